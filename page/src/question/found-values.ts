import type { Dimension } from '../../../lib/report/catalogue.ts';
import type { Cell } from '../reader/read-csv.ts';

/**
 * The largest number of values that the page keeps of a dimension. A dimension may have millions of values, so the page
 * keeps only the values with the largest amounts.
 */
export const MAX_KEPT = 1_000;

/** A value that occurs in the chosen days, and its amount of the metric that ranks the values. */
export interface FoundValue {
  /** The value as the file has it; null if it is not known. */
  readonly value: Cell;
  readonly amount: number;
}

export interface FoundValues {
  /** The metric that ranks the values. */
  readonly metric: string;
  /** The values with the largest amounts, the largest first; at most MAX_KEPT. */
  readonly values: readonly FoundValue[];
  /** The number of all values, kept or not. */
  readonly count: number;
  /** The metric's total over all values. */
  readonly total: number;
}

/** Ranks the rows of a report of one dimension and one metric. Keeps at most a few thousand rows in memory. */
export function valueRanking(metric: string) {
  let kept: FoundValue[] = [];
  let count = 0;
  let total = 0;
  // The sort is stable: values with equal amounts stay in the file's order.
  const rank = () => {
    kept = kept.sort((a, b) => b.amount - a.amount).slice(0, MAX_KEPT);
  };
  return {
    add(value: Cell, digits: Cell): void {
      const amount = Number(digits ?? 0);
      count += 1;
      total += amount;
      kept.push({ value, amount });
      if (kept.length >= 4 * MAX_KEPT) rank();
    },
    found(): FoundValues {
      rank();
      return { metric, values: kept, count, total };
    },
  };
}

/** A value's share of the total, `62.1 %`; the empty text if the total is not positive. */
export function shareWords({ amount }: FoundValue, total: number): string {
  if (total <= 0) return '';
  const percent = (100 * amount) / total;
  return amount > 0 && percent < 0.05 ? 'below 0.1 %' : `${percent.toFixed(1)} %`;
}

/**
 * The values whose text contains the search text, in capital or small letters. Null and the empty text are found by the
 * words that the page shows for them.
 */
export function searchValues(values: readonly FoundValue[], search: string): readonly FoundValue[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return values;
  return values.filter(({ value }) => valueWords(value).toLowerCase().includes(wanted));
}

/** A value in words. */
export const valueWords = (value: Cell): string => {
  if (value === null) return 'not known';
  return value === '' ? 'empty text' : value;
};

/** A filter's value in the form that the file has: `007` becomes `7`. */
export function inFile({ type }: Dimension, value: string): string {
  return type === 'integer' && /^-?\d+$/.test(value) ? String(BigInt(value)) : value;
}

/**
 * Returns a filter's values with `value` added, or with `value` removed if it was among them. A filter without values
 * keeps one empty input.
 */
export function withToggled(
  dimension: Dimension,
  values: readonly string[],
  value: string,
): readonly string[] {
  const others = values.filter((other) => other !== '' && inFile(dimension, other) !== value);
  if (!isChosen(dimension, values, value)) return [...others, value];
  return others.length > 0 ? others : [''];
}

/** Whether a value of the file is among a filter's values. */
export const isChosen = (dimension: Dimension, values: readonly string[], value: string): boolean =>
  values.some((other) => inFile(dimension, other) === value);
