import { createHash } from 'node:crypto';
import type { CsvColumn } from '../csv/retype-csv.ts';
import { RESULTS_PREFIX } from '../names.ts';
import type { Field } from '../report/catalogue.ts';
import { type CompiledQuery, compileQuery } from '../report/compile-query.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import type { Entitlement } from '../report/row-predicates.ts';
import { formatUtcTime } from '../report/utc-time.ts';

/** All that it takes to make one report, in a form that can be stored and carried on by another function. */
export interface ReportOrder {
  /** Two orders share it if, and only if, no byte of their files could differ over the same events. */
  readonly id: string;
  readonly query: CompiledQuery;
  readonly columns: readonly CsvColumn[];
  /** When the last event may happen that the report counts, in milliseconds since 1970. */
  readonly windowEnd: number;
  /** The object's key in the results bucket. */
  readonly key: string;
  /** What a browser or `curl -OJ` saves it as. */
  readonly fileName: string;
}

/** Compiles a request for a caller. What the caller may not see is left out by the query, hence by the id. */
export function orderReport(request: ReportRequest, entitlement: Entitlement): ReportOrder {
  const { report, requestedFields, window } = request;
  const query = compileQuery(request, entitlement);
  const columns = requestedFields.map((name) => ({ name, type: (report.fields[name] as Field).type }));
  const id = createHash('sha256')
    .update(JSON.stringify([query, columns]))
    .digest('hex');
  const [start, end] = [window.start, window.end].map((time) => formatUtcTime(time).replaceAll(/[-:]/g, ''));
  const fileName = `${report.name}_${start}_${end}.csv`;
  return {
    id,
    query,
    columns,
    windowEnd: window.end,
    key: `${RESULTS_PREFIX.reports}${id}/${fileName}`,
    fileName,
  };
}
