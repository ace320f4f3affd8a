import type { Dimension } from '../../../lib/report/catalogue.ts';
import type { Cell } from '../reader/read-csv.ts';

/** A dimension may have millions of values: the largest are kept. */
export const MAX_KEPT = 1_000;

/** A value that occurs in the chosen days, with its amount of the ranking metric. */
export interface FoundValue {
  /** As the file has it; null: not known. */
  readonly value: Cell;
  readonly amount: number;
}

export interface FoundValues {
  /** The metric that they are ranked by. */
  readonly metric: string;
  /** The largest first, at most MAX_KEPT. */
  readonly values: readonly FoundValue[];
  /** How many there are in all. */
  readonly count: number;
  /** The metric's total of all of them. */
  readonly total: number;
}

/**
 * Ranks the rows of a report of one dimension and one metric. It holds at most a few thousand of them at a time.
 */
export function valueRanking(metric: string) {
  let kept: FoundValue[] = [];
  let count = 0;
  let total = 0;
  // A sort is stable: of equal amounts, the file's order stays.
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

/** A value's share of the total, `62.1 %`; nothing where there is no total. */
export function shareWords({ amount }: FoundValue, total: number): string {
  if (total <= 0) return '';
  const percent = (100 * amount) / total;
  return amount > 0 && percent < 0.05 ? 'below 0.1 %' : `${percent.toFixed(1)} %`;
}

/**
 * The values whose text contains the search text, in any case. Null and the empty text are found by the words that
 * the page shows for them.
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

/** A filter's value in the one form in which the file has it: `007` is `7`. */
export function inFile({ type }: Dimension, value: string): string {
  return type === 'integer' && /^-?\d+$/.test(value) ? String(BigInt(value)) : value;
}

/**
 * A filter's values with `value` added, or removed if it is there. A filter without values keeps one empty input.
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

/** Whether a value that occurs is among a filter's values. */
export const isChosen = (dimension: Dimension, values: readonly string[], value: string): boolean =>
  values.some((other) => inFile(dimension, other) === value);
