import type { InputHTMLAttributes } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { isDay } from './presets.ts';
import { isWholeTime } from './time-text.ts';

/**
 * The attributes of an input that is at fault. They point to the elements that describe the fault. `ids` are the ids of
 * these elements; if there are none, the input has no fault.
 */
export const faultAttributes = (ids: readonly string[]) =>
  ids.length > 0 ? ({ 'aria-invalid': true, 'aria-describedby': ids.join(' ') } as const) : {};

/**
 * An input that reports its text when the text is complete, or when the user leaves the input. A half-typed day is
 * therefore not shown as a fault.
 */
export function TypedInput({
  value,
  isWhole,
  onText,
  ...attributes
}: {
  readonly value: string;
  readonly isWhole: (text: string) => boolean;
  readonly onText: (text: string) => void;
} & Pick<
  InputHTMLAttributes,
  'id' | 'pattern' | 'inputMode' | 'placeholder' | 'aria-label' | 'aria-invalid' | 'aria-describedby'
>) {
  const [draft, setDraft] = useState<{ readonly text: string; readonly of: string }>();
  const take = (text: string) => {
    setDraft(undefined);
    onText(text);
  };
  return (
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      {...attributes}
      // A value from elsewhere, such as a preset, replaces half-typed text.
      value={draft?.of === value ? draft.text : value}
      onInput={({ currentTarget: { value: text } }) =>
        text === '' || isWhole(text) ? take(text) : setDraft({ text, of: value })
      }
      onChange={({ currentTarget }) => take(currentTarget.value)}
    />
  );
}

/**
 * An input for a day, with a calendar to choose the day from. The text has the form `YYYY-MM-DD` in every language of
 * the browser.
 *
 * @param label the input's name if no label element names it
 */
export function DayInput(input: {
  readonly id: string;
  readonly label?: string;
  readonly calendar: string;
  readonly day: string;
  readonly faultIds: readonly string[];
  readonly onDay: (day: string) => void;
}) {
  const { id, label, calendar, day, faultIds, onDay } = input;
  const picker = useRef<HTMLInputElement>(null);
  return (
    <span class="day-input">
      <TypedInput
        id={id}
        {...(label !== undefined && { 'aria-label': label })}
        inputMode="numeric"
        pattern="\d{4}-\d{2}-\d{2}"
        placeholder="YYYY-MM-DD"
        value={day}
        isWhole={(text) => isWholeTime(text, 'day')}
        onText={(text) => onDay(text.trim())}
        {...faultAttributes(faultIds)}
      />
      <button
        type="button"
        class="icon"
        aria-label={calendar}
        title={calendar}
        onClick={() => picker.current?.showPicker()}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
          <path
            d="M2 3.5h12v10.5H2zM2 6.5h12M5 1.5v3M11 1.5v3"
            fill="none"
            stroke="currentColor"
            stroke-width="1.4"
          />
        </svg>
      </button>
      {/* This hidden input provides only the calendar. Its date format would follow the browser's language. */}
      <input
        ref={picker}
        class="visually-hidden"
        type="date"
        tabIndex={-1}
        aria-hidden="true"
        value={isDay(day) ? day : ''}
        onInput={({ currentTarget }) => onDay(currentTarget.value)}
      />
    </span>
  );
}
