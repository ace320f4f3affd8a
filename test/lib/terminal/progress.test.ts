import { afterEach, describe, expect, it, vi } from 'vitest';
import { counted } from '../../../lib/terminal/counted.ts';
import { repeatedProgress, showProgress } from '../../../lib/terminal/progress.ts';

const CLEAR = '\r\u001b[K';

/** The texts that showProgress writes to a stream for these steps of the work, such as `9.9 Days 1/2, 12 Days 2/2`. */
function shownBy(terminal: { isTTY?: boolean; columns?: number }, steps: string): string[] {
  const written: string[] = [];
  let seconds = 0;
  const stream = { ...terminal, write: (text: string) => written.push(text) };
  const onProgress = showProgress(stream, () => seconds * 1000);
  for (const [, at, what = '', done, total] of steps.matchAll(/([\d.]+) (\w+) (\d+)\/(\d+)/g)) {
    seconds = Number(at);
    onProgress(what, Number(done), Number(total));
  }
  return written;
}

describe('progress in a log', () => {
  it('is a line at the start, one every ten seconds, and one at the end', () => {
    const steps = Array.from({ length: 31 }, (_, second) => `${second} Days ${second}/30`).join();
    const later = ['10/30, about 20 s left', '20/30, about 10 s left', '30/30, took 30 s'];
    expect(shownBy({}, steps)).toEqual(['0/30', ...later].map((line) => `Days: ${line}\n`));
  });

  it.each<[string, string, string[]]>([
    ['nothing for work that is done at its first report', '0 Days 1/1', []],
    ['nothing if there is no work', '0 Days 0/0', []],
    ['no last line for work that took less than ten seconds', '0 Days 0/2, 9.9 Days 2/2', ['Days: 0/2\n']],
    [
      'the next work, timed separately, at least ten seconds after the line before',
      '0 Footers 0/2, 9 Footers 2/2, 9 Records 0/4, 12 Records 1/4, 30 Records 2/4',
      ['Footers: 0/2\n', 'Records: 1/4, about 9 s left\n', 'Records: 2/4, about 21 s left\n'],
    ],
    [
      'later work of the same name, timed separately',
      '0 Records 0/4, 100 Records 4/4, 100 Records 0/4, 110 Records 1/4',
      ['Records: 0/4\n', 'Records: 4/4, took 2 min\n', 'Records: 1/4, about 30 s left\n'],
    ],
    [
      'a large total as a percentage, and a long time in hours and minutes',
      '0 Records 0/20000000, 600 Records 1000000/20000000, 6000 Records 10000000/20000000',
      ['Records: 0%\n', 'Records: 5%, about 3 h 10 min left\n', 'Records: 50%, about 1 h 40 min left\n'],
    ],
  ])('shows %s', (_, steps, lines) => {
    expect(shownBy({}, steps)).toEqual(lines);
  });
});

describe('repeatedProgress', () => {
  afterEach(() => void vi.useRealTimers());

  it('repeats the last step during a long step, and shows nothing for work that ends at once', () => {
    vi.useFakeTimers();
    const written: string[] = [];
    {
      using told = repeatedProgress(showProgress({ write: (text) => written.push(text) }));
      told.onProgress('Footers', 0, 3);
      told.onProgress('Footers', 3, 3);
      told.onProgress('Records', 0, 2);
      vi.advanceTimersByTime(5_000);
      told.onProgress('Records', 1, 2);
      vi.advanceTimersByTime(20_000);
    }
    vi.advanceTimersByTime(60_000);
    const lines = ['0/2', '1/2, about 10 s left', '1/2, about 20 s left'];
    expect(written).toEqual(lines.map((line) => `Records: ${line}\n`));
  });
});

describe('progress on a terminal', () => {
  const terminal = { isTTY: true, columns: 26 };

  it('is a line that is redrawn at most ten times a second, and that stays if the work took ten seconds', () => {
    const shown = shownBy(terminal, '0 Days 0/4, 0.05 Days 1/4, 5 Days 2/4, 12 Days 4/4');
    const lines = ['Days: 0/4', 'Days: 2/4, about 5 s left', 'Days: 4/4, took 12 s\n'];
    expect(shown).toEqual(lines.map((line) => CLEAR + line));
  });

  it('disappears if the work was short', () => {
    expect(shownBy(terminal, '0 Days 0/4, 1 Days 4/4')).toEqual([`${CLEAR}Days: 0/4`, CLEAR]);
  });

  it('fits the terminal, or 80 columns if the terminal reports none', () => {
    expect(shownBy({ isTTY: true, columns: 10 }, '0 Days 100/900')).toEqual([`${CLEAR}Days: 10…`]);
    expect(shownBy({ isTTY: true, columns: 0 }, `0 ${'x'.repeat(99)} 0/4`)).toEqual([
      `${CLEAR}${'x'.repeat(78)}…`,
    ]);
  });
});

it.each([
  [counted(0, 'day'), '0 days'],
  [counted(1, 'day'), '1 day'],
  [counted(999, 'row group'), '999 row groups'],
  [counted(1_000, 'record'), '1,000 records'],
  [counted(20_000_000, 'record'), '20,000,000 records'],
  [counted(1, 'company', 'companies'), '1 company'],
  [counted(2, 'company', 'companies'), '2 companies'],
])('counted groups digits, and chooses the singular or the plural: %s', (text, expected) => {
  expect(text).toBe(expected);
});
