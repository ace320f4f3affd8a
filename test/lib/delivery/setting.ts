import type { DeliveryFacts, DeliveryTerms, Progress, Wanted } from '../../../lib/delivery/delivery.ts';
import type { SucceededRecord } from '../../../lib/delivery/order-record.ts';
import { beginRun, type Run } from '../../../lib/delivery/run.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { memoryBucket } from './memory-bucket.ts';
import { memoryLake } from './memory-lake.ts';
import { memoryQueries, type Plan } from './memory-queries.ts';

/** When the fake clock of these tests begins. */
export const START = 1_700_000_000_000;

export const LARGE = 16 * 1024 * 1024 + 1;

export const wanted: Wanted = {
  request: parseRequest(publisherReport, {
    accept: undefined,
    parameters: {
      requestedFields: ['Day,Clicks'],
      startInclusive: ['2026-01-01T00:00:00Z'],
      endExclusive: ['2026-01-03T00:00:00Z'],
      'api-version': ['1.0'],
    },
  }),
  entitlement: 'every-company',
  client: 'client-1',
};

/** The report made from the result of the engine in memory, unless a plan says otherwise. */
export const CSV = '"Day","Clicks"\n"2026-01-01T00:00:00Z",1\n';

/** The terms of a request that comes now. */
export const termsNow = (more: Partial<DeliveryTerms> = {}): DeliveryTerms => ({
  waitUntil: Date.now() + 25_000,
  giveUpAt: Date.now() + 630_000,
  publishUntil: Date.now() + 1_530_000,
  longestQueryMs: 600_000,
  listingMs: 0,
  maxBytesScanned: 10,
  queriesPerPartner: 0,
  admitsGzip: false,
  ...more,
});

/** A lake with one file, an empty bucket, and an engine that runs one execution for each plan. */
export function setting(...plans: Plan[]) {
  const lake = memoryLake('publisher_events/day=2026-01-01/a.parquet');
  const results = memoryBucket();
  const queries = memoryQueries(results, plans);
  const facts: DeliveryFacts = {};
  const ends: string[] = [];
  const note = ({ ends: counted = [], ...learnt }: DeliveryFacts) => {
    ends.push(...counted.map(({ state }) => state));
    Object.assign(facts, learnt, counted.length > 0 && { ends: [...(facts.ends ?? []), ...counted] });
  };
  return {
    lake,
    results,
    queries,
    backends: { lake, results, queries },
    /** The facts noted for the log; `ends` has the state of each end that was counted. */
    facts,
    ends,
    note,
    run: (terms: Partial<DeliveryTerms> = {}, left?: Progress): Promise<Run> =>
      beginRun({ lake, results, queries }, wanted, termsNow(terms), note, left),
  };
}

/** The record of a report whose query ended at the start. */
export const succeededRecord = (more: Partial<SucceededRecord> = {}): SucceededRecord => ({
  form: 1,
  state: 'succeeded',
  token: 'token-1',
  trace: 'trace-1',
  executionId: 'q1',
  submittedAt: START - 100,
  completedAt: START,
  bytesScanned: 1_000,
  engineMs: 7,
  location: 's3://results/athena/q1.csv',
  resultBytes: 10,
  isCopy: true,
  goodUntil: 0,
  ...more,
});
