import { decimalText } from './decimal.ts';
import type { SumOf } from './exact-sum.ts';
import { EXACT_BELOW, type Numbers } from './number-column.ts';
import { compare, orderOfQuotients, type Quotients, quotientAt, quotientOf } from './quotients.ts';
import type { ShownCell, TableColumn } from './reader-messages.ts';
import type { Ordering } from './sort-rows.ts';
import type { Dictionary } from './text-column.ts';

/** A column of the table: its values as text, their order, their total. */
export interface ValueColumn {
  readonly shown: TableColumn;
  cell(row: number): ShownCell;
  ordering(): Ordering;
  total(sumOf: SumOf): ShownCell;
}

export interface DimensionColumn extends ValueColumn {
  /** Returns a test for rows: whether the row's text, as it is shown, contains `part`. `part` is in lower case. */
  holding(part: string): (row: number) => boolean;
}

/**
 * The search text that finds rows without a value. Only the whole text does, because the table shows a dash for
 * them.
 */
const NOT_KNOWN = 'not known';

/** @param seen a text as people see it */
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

/** The column of a number of the file, as its digits stand there. */
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

/** The column of numbers that name something: they are found by their digits, and have no total. */
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
  ordering: () => orderOfQuotients(quotients, hasRow),
  total: (sumOf) => quotientOf(quotients, sumOf(quotients.dividend), sumOf(quotients.divisor)),
});
