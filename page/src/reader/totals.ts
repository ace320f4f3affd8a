import { decimalText, quotientText, RATIO_PLACES, scaled } from './decimal.ts';
import { type SumOf, sumsOver } from './exact-sum.ts';
import type { Numbers } from './number-column.ts';
import { PERCENT_PLACES, type Quotients, quotientOf } from './quotients.ts';
import type { Total } from './reader-messages.ts';
import type { Sides } from './side-rows.ts';
import type { Table } from './table.ts';
import { allRows } from './table-view.ts';

/** The totals of the whole file. The total of a ratio is the ratio of the two sums. */
export function totalsOf(table: Table): Total[] {
  const sumOf = sumsOver(allRows(table));
  return [
    ...table.metrics.map((metric) => totalOfMetric(metric, sumOf, table.isBeforeEmpty)),
    ...table.ratios.map((ratio) => totalOfRatio(ratio, sumOf)),
  ];
}

function totalOfMetric({ name, now, before }: Sides<Numbers>, sumOf: SumOf, isBeforeEmpty: boolean): Total {
  const sum = sumOf(now);
  const own = { of: name, kind: 'metric', sum: decimalText(sum, now.places) } as const;
  if (!before) return own;
  // If the period before has no rows, its sums are null, because zero would say that it has rows.
  if (isBeforeEmpty) return { ...own, before: null, change: null, percent: null };
  const sumBefore = sumOf(before);
  return {
    ...own,
    before: decimalText(sumBefore, now.places),
    change: decimalText(sum - sumBefore, now.places),
    percent: quotientText(100n * (sum - sumBefore), sumBefore, PERCENT_PLACES),
  };
}

function totalOfRatio({ name, now, before }: Sides<Quotients>, sumOf: SumOf): Total {
  const above = sumOf(now.dividend);
  const below = sumOf(now.divisor);
  const sum = quotientOf(now, above, below);
  const own = { of: name, kind: 'ratio', sum } as const;
  if (!before) return own;
  const aboveBefore = sumOf(before.dividend);
  const belowBefore = sumOf(before.divisor);
  const sumBefore = quotientOf(before, aboveBefore, belowBefore);
  if (sum === null || sumBefore === null) return { ...own, before: sumBefore, change: null, percent: null };
  // The change is the difference of the rounded figures, so that people who subtract these figures get the same change.
  // The percentage is computed from the exact sums.
  const change = scaled(sum, RATIO_PLACES) - scaled(sumBefore, RATIO_PLACES);
  const crossed = above * belowBefore - aboveBefore * below;
  return {
    ...own,
    before: sumBefore,
    change: decimalText(change, RATIO_PLACES),
    percent: quotientText(100n * crossed, aboveBefore * below, PERCENT_PLACES),
  };
}
