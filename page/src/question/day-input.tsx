import { useRef } from 'preact/hooks';
import { isDay } from './presets.ts';
import { isWholeTime } from './time-text.ts';
import { faultAttributes, TypedInput } from './typed-input.tsx';

/**
 * An input for a day, with a calendar to choose the day from. The text has the form `YYYY-MM-DD` in every language of
 * the browser.
 *
 * @param label the input's name if no label element names it
 */
export function DayInput({
  id,
  label,
  calendar,
  day,
  faultIds,
  onDay,
}: {
  readonly id: string;
  readonly label?: string;
  readonly calendar: string;
  readonly day: string;
  readonly faultIds: readonly string[];
  readonly onDay: (day: string) => void;
}) {
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
