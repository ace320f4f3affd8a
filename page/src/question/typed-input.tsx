import type { InputHTMLAttributes } from 'preact';
import { useState } from 'preact/hooks';

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
