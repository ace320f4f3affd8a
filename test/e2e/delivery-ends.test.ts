import { DeleteObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FaultInput } from '../../local/faults/faults.ts';
import { s3Of } from '../s3-of.ts';
import { writeEvents } from '../write-events.ts';
import { expectedReport, type Question } from './expected-report.ts';
import { freshQuestions } from './fresh-questions.ts';
import { knownEvents } from './known-events.ts';
import { queryOf, type Service, startService } from './service.ts';

const REPORT = 'publisherperformance';
const WAIT_MS = 500;
const LONGEST_QUERY_MS = 4_000;
const LARGE_BYTES = 20_000_000;

const events = knownEvents(17, 200);
const freshQuestion = freshQuestions();
const expected = (question: Question) => expectedReport(REPORT, events.publisher_events, question);

let service: Service;
let s3: S3Client;
beforeAll(async () => {
  service = await startService(events, {
    functionEnv: { QUERY_WAIT_MS: String(WAIT_MS), LONGEST_QUERY_MS: String(LONGEST_QUERY_MS) },
    asyncRetryPausesMs: [50, 50],
  });
  s3 = s3Of(service.stack);
});
beforeEach(() => service.stack.faults.set([]));
afterAll(async () => {
  s3.destroy();
  await service.close();
});

const pull = (question: Question) => service.pull(REPORT, question);
const ask = (question: Question) => service.request(REPORT, queryOf(question));
/** The URL in an answer's `Location`. Throws the answer's text if there is no `Location`. */
async function locationOf(response: Response): Promise<string> {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`${response.status} ${await response.text()}`);
  return new URL(location, service.stack.apiUrl).href;
}
/** The answer whose `Location` is the download URL of the report. */
async function linked(question: Question): Promise<Response> {
  let answer = await ask(question);
  for (let next = answer; next.status === 303; ) {
    answer = next;
    const url = await locationOf(answer);
    if (url.startsWith(service.stack.storageUrl)) return answer;
    next = await wait(url);
  }
  throw new Error('there is no report');
}
const wait = (url: string) => fetch(url, { redirect: 'manual' });
const problemOf = async (response: Response) => ({
  status: response.status,
  slug: ((await response.json()) as { type: string }).type.split(':').at(-1),
});

async function empty(prefix: string): Promise<void> {
  const Bucket = 'performance-reports-results';
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix }));
  for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
}

describe('a restatement of a day that was closed long ago', () => {
  it('is in the next report and in a report with one more metric; the earlier file is unchanged', async () => {
    const question: Question = {
      fields: ['Clicks'],
      start: '2026-01-25T00:00:00Z',
      end: '2026-01-26T00:00:00Z',
    };
    const sister: Question = { ...question, fields: ['Clicks', 'ServedAds'] };
    const before = await linked(question);
    await writeEvents(service.eventsDirectory, 'publisher_events', [
      { event_time: '2026-01-25T12:00:00.000Z', container_id: 1n, clicks: 1_000_000n },
    ]);
    const rows = [
      ...events.publisher_events,
      { event_time: '2026-01-25T12:00:00.000Z', container_id: 1n, clicks: 1_000_000n, served_ads: 0n },
    ];
    const after = await linked(question);
    expect(await (await fetch(await locationOf(after))).text()).toBe(expectedReport(REPORT, rows, question));
    expect(await pull(sister)).toBe(expectedReport(REPORT, rows, sister));
    expect(await (await fetch(await locationOf(before))).text()).toBe(expected(question));
    const versions = [before, after].map(({ headers }) => headers.get('data-version'));
    expect(versions).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    expect(versions[0]).not.toBe(versions[1]);
    const download = await fetch(await locationOf(after));
    expect(download.headers.get('x-amz-meta-data-version')).toBe(versions[1]);
    await download.body?.cancel();
  });
});

describe('a results bucket that has lost objects', () => {
  it.each([
    ['the reports’ records and files', ['jobs/', 'reports/']],
    ['every object', ['jobs/', 'reports/', 'athena/', 'waiting/']],
  ])('gets new objects at the next request, if it has lost %s', async (_, prefixes) => {
    const question = freshQuestion();
    await pull(question);
    for (const prefix of prefixes) await empty(prefix);
    expect(await pull(question)).toBe(expected(question));
  });
});

describe('the publication of a large result', () => {
  const large: FaultInput = { on: 'query', resultBytes: LARGE_BYTES };

  it('is tried three times; then all waiting clients get a 500, and the next request gets the report', async () => {
    const question = freshQuestion();
    // The result is removed after the query has succeeded, and before its publication begins.
    service.stack.faults.set([large, { on: 's3', match: 'GET publications/', delayMs: 2_500, times: 1 }]);
    let first = await locationOf(await ask(question));
    const isRequested = () => (service.stack.faults.current()[1]?.matched ?? 0) > 0;
    while (!isRequested()) first = await locationOf(await wait(first));
    await empty('athena/');
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => {
        let response = await wait(first);
        while (response.status === 303) response = await wait(await locationOf(response));
        return problemOf(response);
      }),
    );
    expect(answers).toEqual(Array(12).fill({ status: 500, slug: 'internal-error' }));
    // Three tries of `publish` have read the request for the publication, and `abandon` has read it once.
    expect(service.stack.faults.current()[1]?.matched).toBe(4);
    service.stack.faults.set([]);
    expect(await pull(question)).toBe(expected(question));
  });
});
