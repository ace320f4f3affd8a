import type { Page } from 'playwright-core';

/** The name of the control that has the focus; empty if none has it, as after the last control of the page. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement;
    if (element === (document.body as HTMLElement)) return '';
    return element.getAttribute('aria-label') ?? (element.labels?.[0] ?? element).textContent;
  });

/**
 * Presses Tab until a control has the focus whose name begins with `name`. Resolves to the number of presses. Each
 * control on the way must show its focus.
 */
export async function tabTo(page: Page, name: string): Promise<number> {
  // After a button was pressed, the page moves the focus in the next frame. That must not happen between the Tab and the
  // look at what has the focus.
  await page.evaluate(() => new Promise(requestAnimationFrame));
  for (let presses = 1; presses <= 80; presses++) {
    await page.keyboard.press('Tab');
    const control = await focused(page);
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement as Element).outlineStyle,
    );
    if (control !== '' && outline === 'none') throw new Error(`${control} does not show its focus.`);
    if (control.startsWith(name)) return presses;
  }
  throw new Error(`Tab does not lead to ${name}; the last was ${await focused(page)}.`);
}
