import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { answered, answering, tile } from './answer-service.ts';
import { clicksOn, keepPicture, PHONE, SCREEN, sidewaysOf } from './open-page.ts';
import { amount, daysBack, deviceDays, OPEN_DAY, sumOf, weekOf, withCommas } from './weeks-of-events.ts';

const { ask } = await answering();

/** The text of an amount in millionths, rounded to the cent, with commas. */
const toTheCent = (micros: bigint) =>
  withCommas(amount(((micros + 5_000n) / 10_000n) * 10_000n).slice(0, -4));

const servedOn = (back: number) => {
  const rows = deviceDays.filter((row) => row.back === back);
  return withCommas(sumOf(rows, ({ served }) => served));
};
const slider = (page: Page) => page.getByRole('slider', { name: 'Read the chart at' });

const expectReading = (page: Page, words: string) =>
  expect.poll(() => slider(page).getAttribute('aria-valuetext')).toBe(words);

/** The name of the control that has the focus; empty if none has it, as after the last control of the page. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement;
    if (element === (document.body as HTMLElement)) return '';
    return element.getAttribute('aria-label') ?? (element.labels?.[0] ?? element).textContent;
  });

/**
 * Presses Tab until a control has the focus whose name begins with `name`. Resolves to the number of presses. Each
 * control on the way must show its focus.
 */
async function tabTo(page: Page, name: string): Promise<number> {
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

it('the first screen holds the answer, hatches open days, and lets keyboard users read the chart', async () => {
  const page = await ask({}, { viewport: SCREEN });
  await page.getByText('open day: more events may come').waitFor();
  const bottoms = await page.evaluate(() => {
    const boxOf = (element: Element | null) => element?.getBoundingClientRect();
    return {
      scrolled: scrollY,
      totals: [...document.querySelectorAll('.totals, .ratios')].map((part) => boxOf(part)?.bottom),
      canvas: boxOf(document.querySelector('.chart canvas'))?.top,
      rows: [...document.querySelectorAll('tbody tr')]
        .filter((row) => (row.textContent ?? '').trim() !== '')
        .map((row) => boxOf(row)?.bottom ?? Number.NaN),
    };
  });
  expect(bottoms.scrolled).toBe(0);
  for (const bottom of [...bottoms.totals, bottoms.canvas, bottoms.rows[2]])
    expect(bottom, JSON.stringify(bottoms)).toBeLessThanOrEqual(SCREEN.height);
  const lines = await page.locator('.question p').evaluate((line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  });
  expect(lines).toBe(1);
  await keepPicture(page, 'answer-first-screen');

  const revenue = weekOf((row) => row.revenue);
  expect(await tile(page, 'Revenue')).toEqual({
    shown: `${toTheCent(revenue)} EUR`,
    exact: `${withCommas(amount(revenue))} EUR`,
  });
  const ctr = (100 * Number(weekOf((row) => row.clicks))) / Number(weekOf((row) => row.served));
  const ratios = page.getByLabel('Ratios of the totals, derived by this page');
  expect(await ratios.locator('div', { hasText: 'CTR' }).locator('dd').innerText()).toBe(
    `${ctr.toFixed(2)} %`,
  );
  await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('Revenue');
  await page.locator('.legend').getByText(toTheCent(revenue), { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('ServedAds');
  await page.getByRole('img', { name: /^ServedAds from / }).waitFor();

  const hatched = await page.locator('.chart canvas').evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d')?.getImageData(0, 0, width, height) ?? { data: [] };
    const counts = { earlier: 0, last: 0 };
    for (let pixel = 0; pixel < width * height; pixel++) {
      const [red = 0, , blue = 0, alpha = 0] = data.slice(4 * pixel, 4 * pixel + 4);
      // Only the hatching is orange. The open day is the last one, so its hatching is in the last 15 % of the width.
      if (alpha > 30 && red - blue > 60) counts[pixel % width > width * 0.85 ? 'last' : 'earlier'] += 1;
    }
    return counts;
  });
  expect(hatched.earlier).toBe(0);
  expect(hatched.last).toBeGreaterThan(100);

  await slider(page).focus();
  await expectReading(page, `${OPEN_DAY}: All ${servedOn(0)}`);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expectReading(page, `${daysBack(5)}: All ${servedOn(5)}`);
  await page.locator('.legend').getByText(servedOn(5), { exact: true }).waitFor();
  expect(await page.locator('.at').innerText()).toBe(daysBack(5));
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('.at').innerText()).toBe('In all');
  expect(await slider(page).getAttribute('aria-valuetext')).toBe('In all');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => page.locator('.at').innerText()).toBe(daysBack(1));
  await page.keyboard.press('Tab');
  await expect.poll(() => page.locator('.at').innerText()).toBe('In all');

  // The form is higher than this screen. The question above the form must still be visible.
  await page.setViewportSize({ ...SCREEN, height: 700 });
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('builder');
  expect(
    await page.evaluate(() => document.querySelector('.question')?.getBoundingClientRect().top),
  ).toBeGreaterThanOrEqual(0);
});

it('on a phone the Run button stays visible, nothing scrolls sideways, and a touch shows chart values', async () => {
  const page = await ask({}, { viewport: PHONE, hasTouch: true, isMobile: true });
  expect(await sidewaysOf(page)).toBeLessThanOrEqual(0);
  await slider(page).scrollIntoViewIfNeeded();
  const box = await slider(page).boundingBox();
  if (!box) throw new Error('The slider has no box.');
  await page.touchscreen.tap(box.x + 12, box.y + box.height / 2);
  await expectReading(page, `${daysBack(6)}: All ${servedOn(6)}`);
  expect(await page.locator('.at').innerText()).toBe(daysBack(6));

  await page.getByRole('button', { name: 'Change', exact: true }).tap();
  const outside = await page.evaluate(() => {
    const run = [...document.querySelectorAll('button')].find(
      ({ textContent }) => textContent === 'Run the report',
    );
    const missed: number[] = [];
    const builder = document.querySelector('#builder')?.getBoundingClientRect();
    const end = Math.max(0, (builder?.bottom ?? 0) + scrollY);
    for (let top = 0; top <= document.documentElement.scrollHeight - innerHeight; top += 100) {
      scrollTo(0, top);
      const { top: above, bottom } = run?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
      if (above < 0 || bottom > innerHeight) missed.push(scrollY);
    }
    return { missed, end, height: document.documentElement.scrollHeight };
  });
  expect(outside.missed, JSON.stringify(outside)).toEqual([]);
  expect(await sidewaysOf(page)).toBeLessThanOrEqual(0);
});

it('with the keyboard alone a user can skip to each part and ask a question, and the answer is read aloud in order', async () => {
  const page = await ask({}, { viewport: SCREEN });
  const skipTo = async (part: string) => {
    await page.reload();
    await answered(page);
    await tabTo(page, `Skip to ${part}`);
    await page.keyboard.press('Enter');
  };
  await skipTo('the result');
  await expect.poll(() => focused(page)).toBe('Publisher performance report');
  await skipTo('Run');
  await expect.poll(() => focused(page)).toBe('Run the report');
  await skipTo('the question');
  await tabTo(page, 'Order of columns');
  await page.keyboard.press('Enter');
  await tabTo(page, 'Move Day right');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Move Day right');
  await tabTo(page, 'Drop Revenue');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Drop Clicks');

  await page.reload();
  await answered(page);
  let presses = await tabTo(page, 'Skip to the question');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('builder');
  presses += await tabTo(page, 'Add a filter');
  expect(presses).toBeLessThanOrEqual(25);
  await page.keyboard.type('Device');
  await tabTo(page, 'Add the filter');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('DeviceOrProxy, value 1');
  await page.keyboard.type('Car');
  await tabTo(page, 'Run the report');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Publisher performance report');
  await answered(page);
  const carClicks = weekOf((row) => row.clicks, 'Car');
  expect((await tile(page, 'Clicks')).shown).toBe(withCommas(carClicks));
  expect(await clicksOn(page)).toBe(0);

  const heard = await page.getByRole('main').ariaSnapshot();
  const order = [
    'region "The question"',
    `by Day · ServedAds, Opens, Clicks · only DeviceOrProxy "Car"`,
    'heading "Publisher performance report"',
    'status: 7 rows, ',
    'ServedAds',
    'Clicks',
    withCommas(carClicks),
    'img "ServedAds from ',
    'slider "Read the chart at"',
    'table',
    'columnheader "Day"',
    'columnheader "Clicks"',
    'columnheader "CTR derived"',
  ];
  const inOrder = order.map((words) => words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  expect(heard).toMatch(RegExp(inOrder, 's'));
  await page.getByRole('tab', { name: 'URL', exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  expect(await page.getByRole('tabpanel').innerText()).toContain('curl -sS');
});
