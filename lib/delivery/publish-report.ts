import { Readable } from 'node:stream';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Report } from '../report/catalogue.ts';
import { retypeCsv } from '../report/retype-csv.ts';

export interface ReportFile {
  readonly report: Report;
  readonly requestedFields: readonly string[];
  /** The object's key in the results bucket. */
  readonly key: string;
  /** What a browser or `curl -OJ` saves it as. */
  readonly fileName: string;
}

/** S3 takes 10,000 parts: with this size, files up to 80 GB. One publish holds two parts in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/**
 * Streams the engine's result file into the report's (contract 2.3). The report appears under its key when it
 * is whole, or not at all.
 *
 * @param location `s3://bucket/key` of the engine's result
 */
export async function publishReport(
  s3: S3Client,
  bucket: string,
  location: string,
  { report, requestedFields, key, fileName }: ReportFile,
): Promise<void> {
  const source = new URL(location);
  const { Body } = await s3.send(
    new GetObjectCommand({ Bucket: source.hostname, Key: decodeURIComponent(source.pathname.slice(1)) }),
  );
  if (!Body) throw new Error(`no result file at ${location}`);
  const columns = requestedFields.map((name) => ({
    name,
    type: (report.fields[name] as Report['fields'][string]).type,
  }));
  await new Upload({
    client: s3,
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
    params: {
      Bucket: bucket,
      Key: key,
      Body: Readable.from(retypeCsv(columns, Body as Readable), { objectMode: false }),
      ContentType: 'text/csv; charset=utf-8',
      ContentDisposition: `attachment; filename="${fileName}"`,
    },
  }).done();
}
