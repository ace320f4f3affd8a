import { describe, expect, it, vi } from 'vitest';
import { NotEngineCsv } from '../../../lib/csv/retype-csv.ts';
import type { DeliveryTerms, Job } from '../../../lib/delivery/delivery.ts';
import { type EarlyReads, endOf, MAX_SMALL_BYTES, writeReport } from '../../../lib/delivery/end.ts';
import type { EndedExecution, Execution, RunningExecution } from '../../../lib/delivery/execution.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import type { RecordIn } from '../../../lib/results/job-record.ts';
import { type MemoryBucket, memoryBucket } from './memory-bucket.ts';
import { CSV, ENGINE_CSV, LARGE, type Setting, START, setting, UUID, underWayRecord } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const location = 's3://results/athena/q1.csv';
const figures = { submittedAt: START - 100, completedAt: START, bytesScanned: 1_000, engineMs: 7 };
const ended = { id: 'q1', observedAt: START, ...figures };
const succeeded: EndedExecution = { state: 'succeeded', ...ended, location };
const overLimit: EndedExecution = { state: 'scan-limit-exceeded', ...ended };
const failed = { state: 'failed', ...ended, reason: 'FAILED: x', isRetryable: false } as const;
const retryable = { ...failed, isRetryable: true };
const cancelled = { ...failed, isCancelled: true };
const running = { submittedAt: START - 700_000, observedAt: START, isQueued: false, bytesScanned: 1_000 };
const hung: RunningExecution = { state: 'under-way', id: 'q1', ...running };

interface Circumstances {
  /** The request's job; if absent, that of the lake's state before `change`. */
  readonly job?: Job;
  readonly record?: Partial<RecordIn<'under-way'>>;
  readonly early?: EarlyReads;
  /** What happens after the listing for the attempt. */
  readonly change?: (of: Setting) => unknown;
  readonly terms?: Partial<DeliveryTerms>;
}

/** Ends an attempt that was started for the lake as `of` shows it, and whose result is there. */
async function end(of: Setting, execution: Execution, more: Circumstances = {}) {
  const { job = await of.job(), early, terms } = more;
  const { fingerprint } = (await of.job()).data;
  const open = underWayRecord({ fingerprint, slot: 's', elapsedMs: 9, ...more.record });
  of.results.putResult(location, ENGINE_CSV);
  more.change?.(of);
  return settled(endOf(of.wait(job, terms), open, execution, early, Date.now()));
}

const writeAgain = ({ lake }: Setting) => lake.writeAgain();
const unlist = ({ lake }: Setting) => {
  lake.objects = undefined;
};
const seen = <T extends EndedExecution>(ms: number, execution: T): T => ({
  ...execution,
  observedAt: START + ms,
});

describe.each([succeeded, overLimit])('an end ($state) is of the version', (execution) => {
  // The closing listing must equal that of the record. Who ends the attempt may have taken it over, and may have seen
  // another listing than the one that began it.
  it.each<[string, boolean, boolean, boolean]>([
    ['seen by its request, unchanged', false, false, true],
    ['not seen by its request, but unchanged since the attempt began', true, false, true],
    ['seen by its request, but changed since the attempt began', true, true, false],
    ['not seen by its request, and changed since the attempt began', false, true, false],
  ])('if the closing listing is %s: %s, %s, %s', async (_, sawLater, isChanged, isOfVersion) => {
    const of = setting();
    const { objects } = of.lake;
    if (sawLater) of.lake.writeAgain();
    const job = await of.job();
    of.lake.objects = objects;
    const change = isChanged ? writeAgain : () => {};
    expect(await end(of, execution, { job, change })).toMatchObject({ isOfVersion });
  });

  it.each<[string, boolean, EndedExecution, Circumstances]>([
    ['less than ten seconds after the end', true, seen(9_999, execution), {}],
    ['ten seconds after the end', false, seen(10_000, execution), {}],
    ['if the lake can’t be listed', false, execution, { change: unlist }],
  ])('with a listing %s: %s', async (_, isOfVersion, given, more) => {
    expect(await end(setting(), given, more)).toMatchObject({ isOfVersion });
  });

  it('never for a request that could not list the lake', async () => {
    const of = setting();
    const listed = await of.job();
    const job = { ...listed, data: { ...listed.data, isListed: false } };
    expect(await end(of, execution, { job })).toMatchObject({ isOfVersion: false });
    expect(of.lake.looks).toHaveLength(2);
  });
});

const elsewhere = 's3://results/athena/q0.csv';
it.each([
  [location, true, 1],
  [elsewhere, false, 2],
])(
  'what was read early counts for the result that was seen, not for %s',
  async (place, isOfVersion, reads) => {
    const of = setting();
    of.results.putResult(location, ENGINE_CSV);
    of.results.putResult(elsewhere, ENGINE_CSV);
    const result = of.results.readResult(location, LARGE);
    const early = { result, closing: of.job().then(({ data }) => data) };
    const given = { ...succeeded, location: place };
    expect(await end(of, given, { early, change: writeAgain })).toMatchObject({ isOfVersion });
    expect(of.results.callsOf('readResult')).toHaveLength(reads);
  },
);

describe('the record of an ended attempt', () => {
  const attempt = { attempt: 'attempt-1', attempts: 3, isRetry: true, follows: 'w', slot: 's' };
  const written = { form: 2, writer: expect.stringMatching(UUID), fingerprint: expect.any(String) };
  const every = { ...written, ...attempt, executionId: 'q1', ...figures };
  const made = (execution: Execution, more: Circumstances) =>
    end(setting(), execution, { ...more, record: { ...attempt, hasRun: true, ...more.record } });
  const result = (text: string, bytes?: number) => ({
    change: ({ results }: Setting) => results.putResult(location, text, bytes),
  });

  const files = { plain: CSV.length, gzip: expect.any(Number) };
  it.each<[string, Circumstances, object]>([
    ['a small result', {}, { state: 'done', files, rows: 1 }],
    ['a large result', result(ENGINE_CSV, LARGE), { state: 'publishing', files: {}, location }],
  ])('is that of a success: %s', async (_, more, record) => {
    const outcome = await made(succeeded, more);
    expect(outcome).toEqual({ ...every, isOfVersion: true, ...record });
  });

  const forgotten: Execution = { state: 'forgotten', id: 'q1' };
  const none = { submittedAt: 0, completedAt: 0, bytesScanned: 0, engineMs: 0 };
  const gone = { change: ({ results }: Setting) => results.objects.clear() };
  const isStopped = { isStopped: true };
  const ranSince = { runningAt: START - 600_000 };
  const hungFor = (engineMs: number) => ({ engineMs, submittedAt: hung.submittedAt });
  const notCsv = { reason: expect.stringContaining('CSV') };
  const listSlowly = ({ lake }: Setting) => {
    const { list } = lake;
    lake.list = (...given) =>
      new Promise((resolve) => setTimeout(() => resolve(list.apply(lake, given)), 5_000));
  };
  // How Athena's answer looks; the circumstances; the failure; what else the record says.
  const ofNine = { record: { limit: 9 } };
  it.each<[string, Execution, Circumstances, string, object?]>([
    ['not Athena’s CSV', succeeded, result('x'), 'unreadable', notCsv],
    ['without a result', seen(30_000, succeeded), gone, 'lost', { seenAfterMs: 30_000 }],
    ['forgotten', forgotten, {}, 'lost', none],
    ['failed', failed, {}, 'engine', { reason: 'FAILED: x' }],
    ['retryable', retryable, {}, 'retryable'],
    ['seen late', seen(4_000, failed), { change: listSlowly }, 'engine', { seenAfterMs: 9_000 }],
    ['failed while files changed', retryable, { change: writeAgain }, 'data-changed'],
    ['failed when the lake can’t be listed any more', failed, { change: unlist }, 'data-changed'],
    ['cancelled', cancelled, {}, 'engine'],
    ['cancelled, marked as stopped', cancelled, { record: isStopped }, 'too-long'],
    ['cancelled at its limit, by nobody of ours', cancelled, { record: ranSince }, 'engine'],
    ['failed at its limit', failed, { record: { ...isStopped, ...ranSince } }, 'engine'],
    ['stopped while files changed', cancelled, { record: isStopped, change: writeAgain }, 'data-changed'],
    ['stopped now', hung, { record: ranSince }, 'too-long', hungFor(600_000)],
    ['stopped now, in the queue', hung, {}, 'too-long', hungFor(0)],
    ['above the scan limit', overLimit, {}, 'too-large', { isOfVersion: true }],
    ['above the limit of its start', overLimit, ofNine, 'too-large', { isOfVersion: true, limit: 9 }],
    ['above a limit long ago', seen(10_000, overLimit), {}, 'too-large', { seenAfterMs: 10_000 }],
  ])('is that of a failure: %s', async (_, execution, more, why, others) => {
    const record = await made(execution, more);
    const failure = { state: 'failed', isOfVersion: false, why, reason: expect.any(String), seenAfterMs: 0 };
    expect(record).toEqual({ ...every, ...failure, ...others });
  });

  it.each<[string, number, Partial<Job['data']>, number | undefined, typeof succeeded?]>([
    ['as long as the stage reuses this listing', 60_000, {}, 59_980],
    ['not if the stage reuses it no longer', 20, {}, undefined],
    ['not if another listing was seen than the one that began it', 60_000, { fingerprint: 'f2' }, undefined],
    ['not if this machine’s clock was set back', 60_000, { listedAt: START + 1 }, undefined],
    ['not if a file may have come and gone', 60_000, {}, undefined, seen(10_000, succeeded)],
  ])(
    'tells callers with the same listing how long it is good: %s',
    async (...[, listingMs, more, goodForMs, execution = succeeded]) => {
      const of = setting();
      const listed = await of.job();
      const job = { ...listed, data: { ...listed.data, listedAt: START - 20, ...more } };
      const record = await end(of, execution, { job, terms: { listingMs } });
      expect((record as RecordIn<'done'>).goodForMs).toBe(goodForMs);
    },
  );
});

describe('a result that appears after the end of its query', () => {
  const appears = (afterMs: number, more: Circumstances = {}): Circumstances => ({
    change: ({ results }: Setting) => {
      results.objects.clear();
      setTimeout(() => results.putResult(location, ENGINE_CSV), afterMs);
    },
    ...more,
  });
  const until = (waitMs: number, giveUpMs: number) => ({
    terms: { waitUntil: START + waitMs, giveUpAt: START + giveUpMs },
  });
  const none = { result: Promise.resolve(undefined), closing: Promise.resolve(undefined) };

  it.each<[string, Circumstances, string, number]>([
    ['is waited for', appears(3_000), 'done', 3_000],
    ['is waited for until 30 s after the end', appears(90_000, until(60_000, 60_000)), 'failed', 30_000],
    ['is left to the next request', appears(6_000, until(5_000, 60_000)), 'time-is-up', 5_000],
    ['is left to the next request of others', appears(6_000, until(60_000, 5_000)), 'time-is-up', 5_000],
    ['is looked for again if the early look missed it', appears(1, { early: none }), 'done', 250],
  ])('%s', async (_, more, outcome, afterMs) => {
    const record = await end(setting(), succeeded, more);
    expect([record === 'time-is-up' ? record : record.state, Date.now() - START]).toEqual([outcome, afterMs]);
  });
});

describe('writeReport', () => {
  const fileName = 'publisherperformance_20260101T000000Z_20260103T000000Z.csv';
  const KEY = `reports/q1/${fileName}`;
  const GZIPPED = `${KEY}.gz`;
  const version = expect.stringMatching(/^[0-9a-f]{32}$/);
  const file = { fileName, metadata: { 'query-execution-id': 'q1', 'data-version': version } };
  const SIZES = { plain: CSV.length, gzip: expect.any(Number) };
  const usual = { executionId: 'q1', isOfVersion: true };
  const write = async (results: MemoryBucket, text = ENGINE_CSV, of = usual) =>
    settled(writeReport(results, await setting().job(), of, Buffer.from(text)));
  /** Replaces the writes of one file. */
  const writing = (key: string, as: () => Promise<void>) => {
    const results = memoryBucket();
    const { writeFile } = results;
    results.writeFile = (of, ...given) => (of === key ? as() : writeFile(of, ...given));
    return results;
  };
  const pause = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const late = () => Promise.reject(new Overloaded('Later.', 30));

  it('makes both files from the result, and returns their sizes and the number of rows', async () => {
    const results = memoryBucket();
    const row = '"2026-01-02T00:00:00Z",\n';
    const writes = vi.spyOn(results, 'writeFile');
    const made = await write(results, ENGINE_CSV + row);
    // The gzipped file is tried once, the plain one for as long as the request has time.
    const tries = writes.mock.calls.map(([key, , , most]) => `${key} ${most}`);
    expect(tries.sort()).toEqual([`${KEY} undefined`, `${GZIPPED} 1`]);
    const [plain, gzip] = [results.objects.get(KEY), results.objects.get(GZIPPED)];
    expect(made).toEqual({ files: { plain: CSV.length + row.length, gzip: gzip?.bytes }, rows: 2 });
    expect(plain).toMatchObject({ text: CSV + row, file });
    expect(gzip).toMatchObject({ text: CSV + row, file: { ...file, encoding: 'gzip' } });
    const others = memoryBucket();
    await write(others, ENGINE_CSV, { ...usual, isOfVersion: false });
    expect(others.objects.get(KEY)?.file?.metadata).toEqual({ 'query-execution-id': 'q1' });
  });

  it.each<[string, () => Promise<void>, object, number]>([
    ['can’t be written', late, { plain: CSV.length }, 0],
    ['is not written within a second after the plain one', pause(60_000), { plain: CSV.length }, 1_000],
    ['is written within a second after the plain one', pause(999), SIZES, 999],
  ])('waits for the gzipped file only a little: if it %s', async (_, as, sizes, ms) => {
    expect((await write(writing(GZIPPED, as))).files).toEqual(sizes);
    expect(Date.now() - START).toBe(ms);
  });

  it("throws if the plain file can't be written; writes nothing of a result that is not the engine's CSV", async () => {
    await expect(write(writing(KEY, late))).rejects.toThrow(Overloaded);
    const results = memoryBucket();
    await expect(write(results, 'nonsense')).rejects.toThrow(NotEngineCsv);
    expect(results.calls).toEqual([]);
    expect(MAX_SMALL_BYTES).toBe(16 * 1024 ** 2);
  });
});
