import * as v from 'valibot';
import type { Dimension } from '../../lib/report/catalogue.ts';
import { filterColumnSchema, filterTimeSchema } from '../../lib/report/filter-value.ts';
import { isAsked } from './state.ts';

/** One value of a filter, by the input that fits its type; a fault stands below it in the words of the service. */
export function FilterValueInput({
  label,
  id,
  dimension,
  value,
  onInput,
  onDrop,
}: {
  readonly label: string;
  readonly id: string;
  readonly dimension: Dimension | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onDrop: () => void;
}) {
  const fault = dimension ? faultOf(dimension, value) : undefined;
  // An input that nobody has filled in yet is not wrong, until the report is asked for.
  const isShown = fault !== undefined && (value !== '' || isAsked.value);
  return (
    <div class="value">
      <input
        {...inputFor(dimension, value, onInput)}
        id={id}
        aria-label={label}
        {...(isShown && { 'aria-invalid': true, 'aria-describedby': `${id}-fault` })}
      />
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

/** What the service would say of one value. */
function faultOf(dimension: Dimension, value: string): string | undefined {
  const schema = dimension.type === 'datetime' ? filterTimeSchema(dimension) : filterColumnSchema(dimension);
  const result = v.safeParse<typeof schema>(schema, value);
  return result.success ? undefined : result.issues[0].message;
}

/** The input that fits a dimension's type, and how its text becomes a value. */
function inputFor(dimension: Dimension | undefined, value: string, onInput: (value: string) => void) {
  const heard = (toValue: (text: string) => string) => (event: { currentTarget: HTMLInputElement }) =>
    onInput(toValue(event.currentTarget.value));
  if (dimension?.type === 'datetime' && dimension.grain === 'day')
    return {
      type: 'date',
      value: value.slice(0, 10),
      onInput: heard((text) => (text === '' ? '' : `${text}T00:00:00Z`)),
    } as const;
  if (dimension?.type === 'datetime')
    return {
      type: 'datetime-local',
      step: 3_600,
      value: value.slice(0, 16),
      onInput: heard((text) => (text === '' ? '' : `${text.slice(0, 16)}:00Z`)),
    } as const;
  if (dimension?.type === 'integer')
    return {
      type: 'text',
      inputMode: 'numeric',
      autocomplete: 'off',
      value,
      onInput: heard((text) => text.trim()),
    } as const;
  return {
    type: 'text',
    autocomplete: 'off',
    spellcheck: false,
    value,
    onInput: heard((text) => text),
  } as const;
}
