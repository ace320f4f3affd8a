import { describe, expect, it } from 'vitest';
import { byCodePoint, Dictionary, TextColumn } from '../../../page/src/reader/text-column.ts';

describe('TextColumn', () => {
  it('returns its texts, and distinguishes an empty text from a text that is not known', () => {
    const column = new TextColumn(new Dictionary());
    for (const cell of ['b', null, '', 'b', 'NULL']) column.push(cell);
    expect([0, 1, 2, 3, 4].map((row) => column.cell(row))).toEqual(['b', null, '', 'b', 'NULL']);
    expect(column.code(0)).toBe(column.code(3));
  });

  it('has the same codes as a column that changes its texts but shares the dictionary', () => {
    const dictionary = new Dictionary();
    const now = new TextColumn(dictionary);
    const before = new TextColumn(dictionary, (text) => text.toUpperCase());
    now.push('A');
    for (const cell of ['a', 'b', 'a', null]) before.push(cell);
    expect([0, 1, 2, 3].map((row) => before.cell(row))).toEqual(['A', 'B', 'A', null]);
    expect([before.code(0), before.code(2)]).toEqual([now.code(0), now.code(0)]);
  });
});

describe('byCodePoint', () => {
  it('orders texts as the file does, including characters above U+FFFF', () => {
    const texts = [
      '',
      'A',
      'Z',
      'a',
      'aa',
      'ab',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '🦊',
      '🦊a',
    ];
    expect(texts.toReversed().sort(byCodePoint)).toEqual(texts);
    // The UTF-8 bytes of the texts have the same order.
    const bytes = texts.toReversed().sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(bytes).toEqual(texts);
  });
});
