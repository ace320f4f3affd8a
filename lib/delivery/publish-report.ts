import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Execution } from '../aws/query-execution.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import { retypeCsv } from '../csv/retype-csv.ts';
import type { ReportOrder } from './report-order.ts';

/** Object metadata: when the query was submitted whose answer this is, in milliseconds since 1970. */
const QUERIED_AT = 'queried-at';

/** S3 takes 10,000 parts: with this size, files up to 80 GB. One publish holds a few parts in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** When the order's copy was queried, in milliseconds since 1970; undefined where there is no copy. */
export async function queriedAt(results: ResultsBucket, { key }: ReportOrder): Promise<number | undefined> {
  const copy = await results.head(key);
  return copy && Number(copy.metadata[QUERIED_AT]);
}

/**
 * Streams the engine's result file into the report's (contract 2.3). The report appears under its key when it is
 * whole, or not at all. Resolves to false, with nothing done, if the result is larger than that.
 */
export async function publishReport(
  { s3, name }: ResultsBucket,
  { key, columns, fileName }: ReportOrder,
  { location, submittedAt }: Execution,
  mostBytes: number,
): Promise<boolean> {
  const source = new URL(location);
  const { Body, ContentLength } = await s3.send(
    new GetObjectCommand({ Bucket: source.hostname, Key: decodeURIComponent(source.pathname.slice(1)) }),
  );
  const result = Body as Readable;
  if ((ContentLength ?? Number.POSITIVE_INFINITY) > mostBytes) {
    result.destroy();
    return false;
  }
  await new Upload({
    client: s3,
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
    params: {
      Bucket: name,
      Key: key,
      Body: Readable.from(retypeCsv(columns, result), { objectMode: false }),
      ContentType: 'text/csv; charset=utf-8',
      ContentDisposition: `attachment; filename="${fileName}"`,
      Metadata: { [QUERIED_AT]: String(submittedAt) },
    },
  }).done();
  return true;
}
