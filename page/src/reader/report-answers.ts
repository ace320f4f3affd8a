import { type ChartSource, chartOf, splitsOf } from './chart-of.ts';
import { joinRows } from './compare-rows.ts';
import type { ReadReport } from './read-report.ts';
import type { ReaderAnswer, ReaderRequest } from './reader-messages.ts';
import { tableOf } from './table.ts';
import { cellsOf, viewOf } from './table-view.ts';
import { totalsOf } from './totals.ts';

/** The first answer about a report that has been read, and a function that answers later requests. */
export interface ReportAnswers {
  readonly done: Extract<ReaderAnswer, { kind: 'done' }>;
  answer(request: Exclude<ReaderRequest, { kind: 'read' }>): ReaderAnswer;
}

export function reportAnswers(report: string, { now, before, reading, file }: ReadReport): ReportAnswers {
  const table = tableOf(report, now, before && { store: before, rows: joinRows(now, before) });
  const splits = splitsOf(now);
  const source: ChartSource = { report, now, splits, ...(before && { before }) };
  let shown = viewOf(table, { search: '' });
  const metric = table.metrics[0]?.name;
  return {
    done: {
      kind: 'done',
      reading,
      file,
      columns: table.columns.map((column) => column.shown),
      totals: totalsOf(table),
      splits,
      ...(metric !== undefined && { chart: chartOf(source, { metric }) }),
      view: shown.result,
    },
    answer(request) {
      switch (request.kind) {
        case 'chart':
          return { kind: 'chart', chart: chartOf(source, request.question) };
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
