import type { ComponentProps } from 'preact';

/** A small button beside what it acts on. */
export const Pill = (props: ComponentProps<'button'>) => <button type="button" class="pill" {...props} />;

/**
 * Tries the selectors in their order after the next redraw, and moves the focus to the first enabled element. Without
 * this, a button that disappears or moves would leave keyboard users at the top of the page.
 */
export function focusOn(...selectors: readonly string[]): void {
  requestAnimationFrame(() => {
    for (const selector of selectors) {
      const element = document.querySelector<HTMLElement>(selector);
      if (element && !element.matches(':disabled')) return element.focus();
    }
  });
}

/** The selector of the button with this label. */
export const called = (label: string): string => `button[aria-label=${JSON.stringify(label)}]`;
