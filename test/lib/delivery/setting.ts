import type { DeliveryFacts, DeliveryTerms, Job, Wait, Wanted } from '../../../lib/delivery/delivery.ts';
import { makeJob } from '../../../lib/delivery/delivery.ts';
import { readDataState } from '../../../lib/lake/data-version.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import type { JobRecord, RecordIn } from '../../../lib/results/job-record.ts';
import type { Publication } from '../../../lib/results/publication-request.ts';
import { parametersOf } from '../report/parameters.ts';
import { memoryBucket } from './memory-bucket.ts';
import { memoryLake } from './memory-lake.ts';
import { memoryQueries, type Plan } from './memory-queries.ts';

export { ENGINE_CSV } from './memory-queries.ts';

/** The time at which the fake clock of these tests begins, a whole second. */
export const START = 1_700_000_000_000;

export const LARGE = 16 * 1024 * 1024 + 1;

/** The form of a UUID from `randomUUID`. */
export const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The query parameters of the usual request. */
export const PARAMETERS = parametersOf('2026-01-01/2026-01-03', 'Day,Clicks');

const usual = parseRequest(publisherReport, { accept: undefined, parameters: PARAMETERS });
export const wanted: Wanted = { request: usual, entitlement: 'every-company', client: 'client-1' };

/** The report that the service makes from the usual result of the engine in memory. */
export const CSV = '"Day","Clicks"\n"2026-01-01T00:00:00Z",1\n';

/** The terms of a caller's first request, if the request comes now. */
export const termsNow = (more: Partial<DeliveryTerms> = {}): DeliveryTerms => ({
  ...{ askedAt: Date.now(), waitUntil: Date.now() + 25_000 },
  ...{ giveUpAt: Date.now() + 1_230_000, publishUntil: Date.now() + 2_130_000 },
  ...{ longestQueryMs: 600_000, longestQueueMs: 600_000, listingMs: 0 },
  ...{ scanLimit: 10, queriesPerPartner: undefined, acceptsGzip: false },
  ...more,
});

/** A lake with one file, an empty bucket, and an engine that runs one execution for each plan. */
export function setting(...plans: Plan[]) {
  const lake = memoryLake('publisher_events/day=2026-01-01/a.parquet');
  const results = memoryBucket();
  const queries = memoryQueries(results, plans);
  const facts: DeliveryFacts = {};
  const finished: string[] = [];
  const note = ({ finishedQueries = [], ...learnt }: DeliveryFacts) => {
    finished.push(...finishedQueries.map(({ state }) => state));
    const counted = [...(facts.finishedQueries ?? []), ...finishedQueries];
    Object.assign(facts, learnt, finishedQueries.length > 0 && { finishedQueries: counted });
  };
  const backends = { lake, results, queries };
  return {
    ...{ lake, results, queries, backends },
    /** The facts that the request noted for the log. */
    facts,
    /** For each query that was counted in the metrics: how it ended. */
    finished,
    note,
    /** A request for this job that has read no record yet. */
    wait: (job: Job, terms: Partial<DeliveryTerms> = {}): Wait => ({
      ...{ backends, wanted, terms: termsNow(terms), note, job, stored: undefined, slots: undefined },
      ...{ own: undefined, hasWaited: false, waitsForSlot: false, dataChanges: 0 },
    }),
    /** The record of the job that was created last. */
    record: () =>
      results.document(results.keys(/^jobs\/\w{64}\.json$/).at(-1) ?? '') as Record<string, unknown>,
    /** The job of a request that comes now. */
    job: async (): Promise<Job> => makeJob(wanted, await readDataState(lake, wanted.request, 0)),
  };
}

export type Setting = ReturnType<typeof setting>;

const attempt = { attempt: 'attempt-1', attempts: 1, isRetry: false } as const;
const every = { form: 2, writer: 'writer-1', fingerprint: 'f1', ...attempt } as const;

/** What is recorded of a query that ended when the fake clock began. */
const times = { submittedAt: START - 100, completedAt: START, bytesScanned: 1_000, engineMs: 7 };
const ended = { ...every, executionId: 'q1', ...times };

/** Gives a function that makes a record like the usual one. */
const like =
  <T extends JobRecord>(usual: T) =>
  (more: Partial<T> = {}): T => ({ ...usual, ...more });

export const startingRecord = like<RecordIn<'starting'>>({ ...every, state: 'starting', leaseMs: 25_000 });

const underWay = { leaseMs: 25_000, executionId: 'q1', elapsedMs: 0 };
export const underWayRecord = like<RecordIn<'under-way'>>({ ...every, state: 'under-way', ...underWay });

const both = { plain: 10, gzip: 5 };
export const doneRecord = like<RecordIn<'done'>>({ ...ended, state: 'done', isOfVersion: true, files: both });

export const publishingRecord = like<RecordIn<'publishing'>>({
  ...{ ...ended, state: 'publishing', isOfVersion: true, files: {}, location: 's3://results/athena/q1.csv' },
});

/** The request to publish the result of that record. */
export const publication = {
  form: 1,
  ...{ executionId: 'q1', location: 's3://results/athena/q1.csv', key: 'reports/q1/report.csv' },
  ...{ fileName: 'report.csv', dataVersion: 'v1', record: 'jobs/job-1.json', partner: 'first-partner' },
  columns: [
    { name: 'Day', type: 'datetime' },
    { name: 'Clicks', type: 'integer' },
  ],
} as const satisfies Publication;

type Failed = RecordIn<'failed'>;
export const failedRecord = (why: Failed['why'], more: Partial<Failed> = {}): Failed => {
  const failure = { isOfVersion: false, why, reason: 'FAILED: x', seenAfterMs: 0 };
  return { ...ended, state: 'failed', ...failure, ...more };
};
