import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { expect, it, vi } from 'vitest';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { LEAST_ENVIRONMENT } from '../least-environment.ts';
import { ownFolder } from '../own-folder.ts';
import { s3Of } from '../s3-of.ts';

const MB = 1_000_000;
const events = knownEvents(21, 500);
const question = (end: string): Question => ({
  fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'Opens', 'Revenue'],
  start: '2026-01-01T00:00:00Z',
  end,
});
const rowsOf = (csv: string) => csv.slice(csv.indexOf('\n') + 1);

const run = promisify(execFile);
const downloads = await ownFolder();
const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '10000' } });

const urlOf = (asked: Question) => `${service.gatewayUrl}/reporting/publisherperformance?${queryOf(asked)}`;
const authorization = `Bearer ${service.token}`;
/** Downloads a report with curl. */
function download(file: string, asked: Question, ...headers: readonly string[]) {
  const options = [`Authorization: ${authorization}`, ...headers].flatMap((header) => ['-H', header]);
  return run('curl', ['-sSfL', '--max-redirs', '500', '-o', file, ...options, urlOf(asked)]);
}

/** Downloads a report; resolves to its size and digest. */
async function digestOf(asked: Question) {
  const file = join(downloads, randomUUID());
  await download(file, asked);
  const { stdout } = await run('sha256sum', [file]);
  const { size } = await stat(file);
  await rm(file);
  return { bytes: size, digest: stdout.slice(0, 64) };
}

/**
 * Downloads a gzipped report. Resolves to its size, to the size that `gzip -4` gives, and to the digest of the unpacked
 * bytes.
 */
async function zippedDigestOf(asked: Question, beside: 'gzip -4' | 'nothing') {
  const file = join(downloads, `${randomUUID()}.gz`);
  // The gzipped file follows the plain one, which its first caller took.
  await vi.waitFor(
    async () => {
      const init = { redirect: 'manual', headers: { authorization, 'accept-encoding': 'gzip' } } as const;
      const { headers } = await fetch(urlOf(asked), init);
      expect(headers.get('location')).toMatch(/\.csv\.gz\?/);
    },
    { timeout: 300_000, interval: 1_000 },
  );
  await download(file, asked, 'Accept-Encoding: gzip');
  const { size } = await stat(file);
  const shell = (command: string) =>
    run('sh', ['-c', command, 'sh', file]).then(({ stdout }) => stdout.trim());
  const digest = (await shell('gunzip -c "$1" | sha256sum')).slice(0, 64);
  const byGzip = beside === 'nothing' ? 0 : Number(await shell('gunzip -c "$1" | gzip -4 -c | wc -c'));
  await rm(file);
  return { bytes: size, byGzip, digest };
}

/** How many times a report of this size repeats the expected rows, and the digest of such a report. */
function repeated(asked: Question, bytes: number) {
  const csv = expectedReport('publisherperformance', events.publisher_events, asked);
  const header = csv.slice(0, csv.indexOf('\n') + 1);
  const rounds = (bytes - header.length) / Buffer.byteLength(rowsOf(csv));
  const hash = createHash('sha256').update(header);
  for (let round = 0; round < rounds; round++) hash.update(rowsOf(csv));
  return { rounds, digest: hash.digest('hex') };
}

/**
 * Deletes the last report and publishes it again in a process of its own. Resolves to the growth of its memory, in
 * bytes, and to its CPU time.
 */
async function publishAgain(): Promise<{ readonly memory: number; readonly cpuMs: number }> {
  const s3 = s3Of(service.stack);
  const Bucket = 'performance-reports-results';
  const listed = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: RESULTS_PREFIX.publications }));
  const [last] = (listed.Contents ?? []).sort((a, b) => Number(b.LastModified) - Number(a.LastModified));
  const requestKey = last?.Key ?? '';
  const stored = await s3.send(new GetObjectCommand({ Bucket, Key: requestKey }));
  const { key } = JSON.parse((await stored.Body?.transformToString()) ?? '{}');
  for (const file of [key, `${key}.gz`]) await s3.send(new DeleteObjectCommand({ Bucket, Key: file }));
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = service.stack.environment;
  const aws = { AWS_ENDPOINT_URL_S3: service.stack.storageUrl, AWS_REGION: 'us-east-1' };
  const env = {
    ...aws,
    AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY,
    ...LEAST_ENVIRONMENT,
    RESULTS_BUCKET: Bucket,
  };
  const program = [join(import.meta.dirname, 'publish-alone.ts'), requestKey];
  const { stdout } = await run(process.execPath, program, { env });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

it('a result of a gigabyte is published completely, plain and gzipped, with less than 200 MB of memory', async () => {
  service.stack.faults.set([{ on: 'query', resultBytes: 100 * MB }]);
  const tenth = await digestOf(question('2026-01-06T00:00:00Z'));
  const ofTenth = await publishAgain();

  const asked = question('2026-01-07T00:00:00Z');
  service.stack.faults.set([{ on: 'query', resultBytes: 1_000 * MB }]);
  const first = await digestOf(asked);
  const expected = repeated(asked, first.bytes);
  expect(Number.isInteger(expected.rounds)).toBe(true);
  expect(first.bytes).toBeGreaterThan(700 * MB);
  expect(first.digest).toBe(expected.digest);

  const gzipped = await zippedDigestOf(asked, 'gzip -4');
  process.stdout.write(
    `zipped to ${gzipped.bytes} bytes, by gzip -4 to ${gzipped.byGzip}: ${(gzipped.bytes / gzipped.byGzip).toFixed(3)} times as many\n`,
  );
  expect(gzipped.digest).toBe(first.digest);
  expect(gzipped.bytes).toBeLessThanOrEqual(1.05 * gzipped.byGzip);

  const { memory, cpuMs } = await publishAgain();
  expect(await digestOf(asked)).toEqual(first);
  expect(await zippedDigestOf(asked, 'nothing')).toEqual({ ...gzipped, byGzip: 0 });
  const inMB = (bytes: number) => `${Math.round(bytes / MB)} MB`;
  process.stdout.write(
    `${inMB(tenth.bytes)} published with ${inMB(ofTenth.memory)} of memory, ${inMB(first.bytes)} with ${inMB(memory)} in ${cpuMs} ms of CPU\n`,
  );
  expect(memory).toBeLessThan(ofTenth.memory + 100 * MB);
  expect(memory).toBeLessThan(200 * MB);
});
