import { describe, expect, it } from 'vitest';
import { BrokenCsv, type Cell, csvReader } from '../../../page/src/reader/read-csv.ts';
import { AWKWARD_TEXT, randomNumbers } from '../../e2e/known-events.ts';

function read(pieces: readonly string[]): Cell[][] {
  const rows: Cell[][] = [];
  const reader = csvReader((cells) => rows.push([...cells]));
  for (const piece of pieces) reader.read(piece);
  reader.end();
  return rows;
}

function cut(text: string, random: () => number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = 1 + Math.floor(random() ** 3 * 40);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

describe('csvReader', () => {
  it('reads every value unchanged, wherever the pieces are cut', () => {
    const random = randomNumbers(18);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    for (let round = 0; round < 200; round++) {
      const width = 1 + Math.floor(random() * 4);
      const rows = Array.from({ length: Math.floor(random() * 20) }, () =>
        Array.from({ length: width }, () => pick<Cell>([...AWKWARD_TEXT, null])),
      );
      // NULL is an empty field without quotes. Every text is in quotes, even the empty text.
      const text = rows
        .map(
          (row) =>
            `${row.map((cell) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`)).join(',')}\n`,
        )
        .join('');
      expect(read(cut(text, random))).toEqual(rows);
    }
  });

  it('distinguishes an empty text from NULL', () => {
    expect(read(['"A","B"\n"",\n'])).toEqual([
      ['A', 'B'],
      ['', null],
    ]);
  });

  it('reads a row whose only value is NULL, and a file that has only a header', () => {
    expect(read(['"A"\n\n7\n'])).toEqual([['A'], [null], ['7']]);
    expect(read(['"A"\n'])).toEqual([['A']]);
  });

  it.each([
    ['in a number', '"A"\n12'],
    ['in a text', '"A"\n"x'],
    ['before the end of a line', '"A"\n"x"'],
    ['after a comma', '"A","B"\n1,'],
  ])('refuses a file that ends %s', (_, text) => {
    expect(() => read([text])).toThrow(BrokenCsv);
  });

  it('refuses a text that is no CSV', () => {
    expect(() => read(['"A"x\n'])).toThrow(BrokenCsv);
  });
});
