import type { Dimension } from '../../../lib/report/catalogue.ts';
import { isAsked } from '../state.ts';
import { DayInput, faultAttributes, TypedInput } from './day-input.tsx';
import { valueFault } from './fault-words.ts';
import { isWholeTime, timeText, timeValue } from './time-text.ts';

interface InputProps {
  readonly label: string;
  readonly id: string;
  readonly dimension: Dimension | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** The input for one value of a filter, with its fault below. */
export function FilterValueInput({ onDrop, ...input }: InputProps & { readonly onDrop: () => void }) {
  const { label, id, dimension, value } = input;
  const fault = dimension ? valueFault(dimension, value) : undefined;
  // An empty input shows its fault only after the user has asked for the report.
  const isShown = fault !== undefined && (value !== '' || isAsked.value);
  return (
    <div class="value">
      <ValueInput {...input} faultIds={isShown ? [`${id}-fault`] : []} />
      <button type="button" class="icon" aria-label={`Drop ${label}`} onClick={onDrop}>
        ×
      </button>
      {isShown && (
        <p class="faults" id={`${id}-fault`} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

/** The input that fits a dimension's type. It turns the typed text into a value. */
function ValueInput(input: InputProps & { readonly faultIds: readonly string[] }) {
  const { label, id, dimension, value, faultIds, onInput } = input;
  if (dimension?.type === 'datetime' && dimension.grain === 'day')
    return (
      <DayInput
        id={id}
        label={label}
        calendar={`Choose ${label} from a calendar`}
        day={timeText(value, 'day')}
        faultIds={faultIds}
        onDay={(day) => onInput(timeValue(day, 'day'))}
      />
    );
  if (dimension?.type === 'datetime')
    return (
      <TypedInput
        id={id}
        aria-label={label}
        placeholder="YYYY-MM-DD HH:00"
        value={timeText(value, 'hour')}
        isWhole={(text) => isWholeTime(text, 'hour')}
        onText={(text) => onInput(timeValue(text, 'hour'))}
        {...faultAttributes(faultIds)}
      />
    );
  const isNumber = dimension?.type === 'integer';
  return (
    <input
      id={id}
      aria-label={label}
      type="text"
      autocomplete="off"
      spellcheck={false}
      {...(isNumber && { inputMode: 'numeric' as const })}
      value={value}
      onInput={({ currentTarget: { value: text } }) => onInput(isNumber ? text.trim() : text)}
      {...faultAttributes(faultIds)}
    />
  );
}
