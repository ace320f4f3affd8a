import { setTimeout as delay } from 'node:timers/promises';
import { type CsvColumn, retypeCsv } from '../csv/retype-csv.ts';
import { gzipped } from '../results/gzipped.ts';
import type { ReportFiles } from '../results/job-record.ts';
import { gzippedKey, type ResultsKey } from '../results/keys.ts';
import type { ReportFile, ResultsBucket } from '../results/results-bucket.ts';

/** A report to write: the plain file's key, the columns, and the properties of the file. */
export interface WantedReport {
  /** Key of the plain file. */
  readonly key: ResultsKey;
  readonly columns: readonly CsvColumn[];
  readonly file: ReportFile;
}

/** The largest result that a report's function re-types while the caller waits. Re-typing it takes about a second. */
export const MAX_SMALL_BYTES = 16 * 1024 * 1024;

/** How long to wait for the gzipped file after the plain file is written. */
const GZIP_GRACE_MS = 1_000;

/** File name and metadata of an execution's report files. */
export const reportFile = (
  fileName: string,
  executionId: string,
  dataVersion: string | undefined,
): ReportFile => ({
  fileName,
  metadata: {
    'query-execution-id': executionId,
    ...(dataVersion !== undefined && { 'data-version': dataVersion }),
  },
});

/**
 * Makes both of the report's files from a small result (docs/contract.md#the-file). Tries only once to write the
 * gzipped file: if the try fails, every caller gets the plain file. Throws NotEngineCsv if the result can't be read.
 */
export async function writeReport(
  results: ResultsBucket,
  { key, columns, file }: WantedReport,
  result: Uint8Array,
): Promise<ReportFiles> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of retypeCsv(columns, [result])) chunks.push(chunk);
  const csv = Buffer.concat(chunks);
  const gzip = writeGzipped(results, key, file, csv).catch(() => undefined);
  await results.writeFile(key, file, csv);
  const bytes = await Promise.race([gzip, delay(GZIP_GRACE_MS, undefined, { ref: false })]);
  return { plain: csv.length, ...(bytes !== undefined && { gzip: bytes }) };
}

async function writeGzipped(
  results: ResultsBucket,
  key: ResultsKey,
  file: ReportFile,
  csv: Uint8Array,
): Promise<number> {
  const content = await gzipped(csv);
  await results.writeFile(gzippedKey(key), { ...file, encoding: 'gzip' }, content, 1);
  return content.length;
}
