import { createHash } from 'node:crypto';
import type { CsvColumn } from '../csv/retype-csv.ts';
import { RESULTS_PREFIX } from '../names.ts';
import { type CompiledQuery, compileQuery } from '../report/compile-query.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import type { Entitlement } from '../report/row-predicates.ts';
import { formatUtcTime } from '../report/utc-time.ts';
import type { DataState } from './data-version.ts';

/** One report over one version of the data. */
export interface Order {
  /** Two orders share it if, and only if, no byte of their files could differ. */
  readonly id: string;
  readonly query: CompiledQuery;
  readonly columns: readonly CsvColumn[];
  readonly fileName: string;
}

/**
 * Compiles a request for a caller. What the caller may not see is left out by the query, and the query is part of the
 * id.
 */
export function makeOrder(
  request: ReportRequest,
  entitlement: Entitlement,
  { version }: Pick<DataState, 'version'>,
): Order {
  const { report, requestedFields, window } = request;
  const query = compileQuery(request, entitlement);
  const columns = requestedFields.map(({ name, type }) => ({ name, type }));
  const [start, end] = [window.start, window.end].map((time) => formatUtcTime(time).replaceAll(/[-:]/g, ''));
  return {
    id: sha256([query, columns, version]),
    query,
    columns,
    fileName: `${report.name}_${start}_${end}.csv`,
  };
}

/** Key of the record of the execution that answers the order's version: its file is the copy, or it was cut off. */
export const copyKey = ({ id }: Order): string => `${RESULTS_PREFIX.orders}${id}.json`;

/**
 * Key of the record of an order's tries that were started for a lake with this trace. A request that saw the lake with
 * another trace must not be given what they read.
 */
export const recordKey = ({ id }: Order, { trace }: Pick<DataState, 'trace'>): string =>
  `${RESULTS_PREFIX.orders}${id}/${trace}.json`;

/** Where an execution's report lies. */
export const fileKey = ({ fileName }: Pick<Order, 'fileName'>, executionId: string): string =>
  `${RESULTS_PREFIX.reports}${executionId}/${fileName}`;

/**
 * The token of the try that comes after another one, or of an order's first. Whoever starts the same try, on whatever
 * machine, uses the same token, so that the engine runs it once.
 *
 * @param trace of the listing for which it is started
 * @param after the token of the try before
 */
export const tokenOf = (order: Order, trace: string, after: string | undefined): string =>
  sha256([order.id, trace, after ?? '', order.query]);

/** 64 hexadecimal digits; Athena takes tokens of 32 to 128 characters. */
const sha256 = (facts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex');
