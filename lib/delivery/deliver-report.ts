import { createHash, randomUUID } from 'node:crypto';
import type { AthenaClient } from '@aws-sdk/client-athena';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Config } from '../config.ts';
import { RESULTS_PREFIX } from '../names.ts';
import { Unavailable } from '../problem.ts';
import { type CompiledQuery, compileQuery, type Entitlement } from '../report/compile-query.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import { formatUtcTime } from '../report/utc-time.ts';
import { presignReport } from './presign-report.ts';
import { publishReport } from './publish-report.ts';
import { startQuery } from './start-query.ts';
import { waitForQuery } from './wait-for-query.ts';

export interface Clients {
  readonly athena: AthenaClient;
  readonly s3: S3Client;
}

/** What the log says of a delivery: milliseconds per step, and what the query cost. */
export interface Delivery {
  /** Presigned; never logged. */
  readonly location: string;
  readonly queryExecutionId: string;
  readonly bytesScanned: number;
  readonly engineMs: number;
  readonly queryMs: number;
  readonly publishMs: number;
}

const RETRY_AFTER_SECONDS = 30;

/**
 * Runs the report's query, publishes its result as CSV and resolves to the URL it is at (contract 4.2).
 * Throws Unavailable if the query takes longer than the configured wait.
 */
export async function deliverReport(
  { athena, s3 }: Clients,
  config: Config,
  request: ReportRequest,
  entitlement: Entitlement,
): Promise<Delivery> {
  const began = Date.now();
  const query = compileQuery(request, entitlement);
  const queryExecutionId = await startQuery(
    athena,
    query,
    { database: config.athenaDatabase, workgroup: config.athenaWorkgroup },
    randomUUID(),
  );
  const result = await waitForQuery(athena, queryExecutionId, began + config.queryWaitMs);
  if (!result)
    throw new Unavailable('The report is not ready yet. Request it again later.', RETRY_AFTER_SECONDS);
  const queried = Date.now();

  const fileName = fileNameOf(request);
  const key = `${RESULTS_PREFIX.reports}${digest(request, query)}/${fileName}`;
  const { report, requestedFields } = request;
  await publishReport(s3, config.resultsBucket, result.location, { report, requestedFields, key, fileName });
  const published = Date.now();

  return {
    location: await presignReport(s3, config.resultsBucket, key, config.downloadUrlSeconds),
    queryExecutionId,
    bytesScanned: result.bytesScanned,
    engineMs: result.engineMs,
    queryMs: queried - began,
    publishMs: published - queried,
  };
}

/** Names a report by what decides its bytes: two requests share a key if no byte of their answers could differ. */
const digest = ({ requestedFields }: ReportRequest, { sql, parameters }: CompiledQuery): string =>
  createHash('sha256')
    .update(JSON.stringify([requestedFields, sql, parameters]))
    .digest('hex');

/** `publisherperformance_20260101T000000Z_20260201T000000Z.csv` */
function fileNameOf({ report, window }: ReportRequest): string {
  const [start, end] = [window.start, window.end].map((time) => formatUtcTime(time).replaceAll(/[-:]/g, ''));
  return `${report.name}_${start}_${end}.csv`;
}
