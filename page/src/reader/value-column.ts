import { decimalText } from './decimal.ts';
import { EXACT_BELOW, type Numbers, type SumOf } from './number-column.ts';
import { compare, orderOfQuotients, type Quotients, quotientAt, quotientOf } from './ratios.ts';
import type { ShownCell, TableColumn } from './reader-messages.ts';
import type { Ordering } from './sort-rows.ts';
import type { Dictionary } from './text-column.ts';

/** A column of the table: the texts, the order and the total of its values. */
export interface ValueColumn {
  readonly shown: TableColumn;
  cell(row: number): ShownCell;
  ordering(): Ordering;
  total(sumOf: SumOf): ShownCell;
}

export interface DimensionColumn extends ValueColumn {
  /** Returns a function that says whether a row's shown text contains `part`. `part` is in lower case. */
  holding(part: string): (row: number) => boolean;
}

/**
 * The search text that finds rows without a value. A part of this text does not find them, because the table shows a
 * dash for them.
 */
const NOT_KNOWN = 'not known';

/** @param seen turns a text into the text that people see */
export const columnOfTexts = (
  shown: TableColumn,
  dictionary: Dictionary,
  code: (row: number) => number,
  seen: (text: string) => string,
): DimensionColumn => ({
  shown,
  cell: (row) => dictionary.texts[code(row)],
  ordering() {
    const ranks = dictionary.ranks();
    return { key: (row) => ranks[code(row)] ?? Number.NaN };
  },
  total: () => null,
  holding(part) {
    const isHolding = dictionary.texts.map((text) =>
      text === null ? part === NOT_KNOWN : seen(text).toLowerCase().includes(part),
    );
    return (row) => isHolding[code(row)] === true;
  },
});

/** A column of numbers, with the digits of the file. */
export const columnOfNumbers = (
  shown: TableColumn,
  numbers: Numbers,
  cell: (row: number) => ShownCell,
): ValueColumn => ({
  shown,
  cell,
  ordering: () => ({
    key: numbers.near,
    tie: (a, b) =>
      Math.abs(numbers.near(a)) < EXACT_BELOW ? 0 : compare(numbers.exact(a) ?? 0n, numbers.exact(b) ?? 0n),
  }),
  total: (sumOf) => decimalText(sumOf(numbers), numbers.places),
});

/**
 * A column of ids, which are numbers that name something. A search finds them by their digits, and they have no total.
 */
export const columnOfIds = (
  shown: TableColumn,
  numbers: Numbers,
  cell: (row: number) => ShownCell,
): DimensionColumn => ({
  ...columnOfNumbers(shown, numbers, cell),
  total: () => null,
  holding(part) {
    if (part === NOT_KNOWN) return (row) => cell(row) === null;
    return /[^-\d]/.test(part) ? () => false : (row) => cell(row)?.includes(part) === true;
  },
});

export const columnOfDifferences = (shown: TableColumn, differences: Numbers): ValueColumn =>
  columnOfNumbers(shown, differences, (row) => {
    const exact = differences.exact(row);
    return exact === undefined ? null : decimalText(exact, differences.places);
  });

export const columnOfQuotients = (
  shown: TableColumn,
  quotients: Quotients,
  hasRow: (row: number) => boolean,
): ValueColumn => ({
  shown,
  cell: (row) => (hasRow(row) ? quotientAt(quotients, row) : undefined),
  ordering: () => orderOfQuotients(quotients),
  total: (sumOf) => quotientOf(quotients, sumOf(quotients.dividend), sumOf(quotients.divisor)),
});
