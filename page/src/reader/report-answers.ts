import { type ChartSource, chartOf, splitsOf } from './chart-of.ts';
import { joinRows } from './compare-rows.ts';
import { decimalText, quotientText, RATIO_PLACES, scaled } from './decimal.ts';
import { type Numbers, type SumOf, sumsOver } from './number-column.ts';
import { PERCENT_PLACES, type Quotients, quotientOf } from './ratios.ts';
import type { ReadReport } from './read-report.ts';
import type { Look, ReaderAnswer, ReaderRequest, Total } from './reader-messages.ts';
import type { Sides } from './side-rows.ts';
import { spreadsheetOf } from './spreadsheet.ts';
import { type Table, tableOf } from './table.ts';
import { allRows, cellsOf, viewOf } from './table-view.ts';
import { axesOf } from './time-axis.ts';

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

/** The first answer about a report that has been read, and a function that answers later requests. */
export interface ReportAnswers {
  readonly done: Extract<ReaderAnswer, { kind: 'done' }>;
  answer(request: Exclude<ReaderRequest, { kind: 'read' }>): ReaderAnswer;
}

export function reportAnswers(
  report: string,
  { now, before, reading, file }: ReadReport,
  look: Look,
): ReportAnswers {
  const table = tableOf(report, now, before && { store: before, rows: joinRows(now, before) });
  const splits = splitsOf(now);
  const source: ChartSource = { report, now, splits, ...(before && { before }) };
  let shown = viewOf(table, look.view);
  const chart = chartOf(source, look.chart);
  return {
    done: {
      kind: 'done',
      reading,
      file,
      columns: table.columns.map((column) => column.shown),
      tableRows: table.rowCount,
      totals: totalsOf(table),
      splits,
      axes: axesOf(now),
      ...(chart && { chart }),
      view: shown.result,
    },
    answer(request) {
      switch (request.kind) {
        case 'chart': {
          const drawn = chartOf(source, request.question);
          return { kind: 'chart', ...(drawn && { chart: drawn }) };
        }
        case 'spreadsheet':
          return { ...request, ...spreadsheetOf(report, table, shown.rows, request.facts) };
        case 'view':
          shown = viewOf(table, request.view);
          return { kind: 'view', result: shown.result };
        case 'rows': {
          const { from, to } = request;
          return {
            kind: 'view-rows',
            view: shown.result.view,
            from,
            rows: cellsOf(table, shown.rows, from, to),
          };
        }
      }
    },
  };
}
