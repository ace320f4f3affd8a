import { type ChartSource, chartOf, splitsOf } from './chart-of.ts';
import { joinRows } from './compare-rows.ts';
import type { ReadReport } from './read-report.ts';
import type { Look, ReaderAnswer, ReaderRequest } from './reader-messages.ts';
import { spreadsheetOf } from './spreadsheet.ts';
import { tableOf } from './table.ts';
import { cellsOf, viewOf } from './table-view.ts';
import { axesOf } from './time-axis.ts';
import { totalsOf } from './totals.ts';

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
