import { createHash } from 'node:crypto';
import type { CsvColumn } from '../csv/retype-csv.ts';
import type { DataState } from '../lake/data-version.ts';
import { type CompiledQuery, compileQuery } from '../report/compile-query.ts';
import type { Entitlement } from '../report/entitlement.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import { formatUtcTime } from '../report/utc-time.ts';

/** One report over one state of the data. */
export interface Job {
  /** Digest of query, columns and data version. Jobs with the same id have the same files. */
  readonly id: string;
  readonly query: CompiledQuery;
  readonly columns: readonly CsvColumn[];
  readonly fileName: string;
  /** The data as this request knows them. Another request for the job may have seen another listing. */
  readonly data: DataState;
}

/**
 * Compiles a request into a job. The query leaves out the rows that the caller may not see. The id depends on the
 * query, so callers who may see different rows never share a job.
 */
export function makeJob(request: ReportRequest, entitlement: Entitlement, data: DataState): Job {
  const { report, requestedFields, window } = request;
  const query = compileQuery(request, entitlement);
  const columns = requestedFields.map(({ name, type }) => ({ name, type }));
  const [start, end] = [window.start, window.end].map((time) => formatUtcTime(time).replaceAll(/[-:]/g, ''));
  const id = createHash('sha256')
    .update(JSON.stringify([query, columns, data.version]))
    .digest('hex');
  return { id, query, columns, fileName: `${report.name}_${start}_${end}.csv`, data };
}
