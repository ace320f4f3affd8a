import { beforeEach, describe, expect, it } from 'vitest';
import type { Execution, QueryService } from '../../../lib/aws/query-execution.ts';
import type { ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { type ClaimTerms, claimQuery } from '../../../lib/delivery/claim-query.ts';
import type { ReportOrder } from '../../../lib/delivery/report-order.ts';

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;
const order = {
  id: 'report',
  query: { sql: 'SELECT 1', parameters: [] },
  windowEnd: NOW,
} as unknown as ReportOrder;
const terms: ClaimTerms = { arrivedAt: NOW, maxAgeMs: 300_000, longestQueryMs: 600_000 };

/** An Athena that keeps tokens, and a bucket of one object, both as small as the calls that are expected. */
let executions: Execution[];
let byToken: Map<string, Execution>;
let record: { document: unknown; etag: string } | undefined;
const make = (changes: Partial<Execution>): Execution => {
  const execution: Execution = {
    id: `query-${executions.length}`,
    state: 'under-way',
    submittedAt: NOW,
    completedAt: 0,
    location: '',
    bytesScanned: 0,
    engineMs: 0,
    reason: '',
    retryable: false,
    ...changes,
  };
  executions.push(execution);
  return execution;
};
const queries: QueryService = {
  start: async (_query, token) => {
    const execution = byToken.get(token) ?? make({});
    byToken.set(token, execution);
    return execution.id;
  },
  get: async (id) => executions.find((execution) => execution.id === id),
  stop: async () => {
    throw new Error('not planned');
  },
};
const results = {
  read: async () => record,
  writeIfStill: async (was: unknown, _key: string, document: unknown) => {
    if (was !== record) return false;
    record = { document, etag: `${executions.length}` };
    return true;
  },
} as unknown as ResultsBucket;

const claim = (changes: Partial<ClaimTerms> = {}) =>
  claimQuery({ queries, results }, order, { ...terms, ...changes });
const recorded = ({ id, submittedAt }: Execution) => {
  record = { document: { queryExecutionId: id, submittedAt }, etag: 'before' };
};

beforeEach(() => {
  executions = [];
  byToken = new Map();
  record = undefined;
});

describe('claimQuery', () => {
  it('starts the first query of a report and records it', async () => {
    expect(await claim()).toMatchObject({ execution: { id: 'query-0' }, joined: false });
    expect(record?.document).toEqual({ queryExecutionId: 'query-0', submittedAt: NOW });
  });

  it('starts one for all that come at the same time, and tells the one from the others', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim()));
    expect(executions).toHaveLength(1);
    expect(claims.filter(({ joined }) => !joined)).toHaveLength(1);
  });

  it.each<[string, Partial<Execution>, Partial<ClaimTerms>]>([
    ['is under way', {}, {}],
    ['is under way where answers are given once', {}, { maxAgeMs: 0 }],
    [
      'ended well a minute ago',
      { state: 'succeeded', submittedAt: NOW - 70_000, completedAt: NOW - 60_000 },
      {},
    ],
    ['ended after the request came', { state: 'failed', completedAt: NOW + 5 }, {}],
  ])('joins one that %s', async (_, changes, asked) => {
    recorded(make(changes));
    expect(await claim(asked)).toMatchObject({ execution: { id: 'query-0' }, joined: true });
  });

  it.each<[string, Partial<Execution>, Partial<ClaimTerms>]>([
    ['failed', { state: 'failed', submittedAt: NOW - 70_000, completedAt: NOW - 60_000 }, {}],
    ['was cancelled', { state: 'cancelled', submittedAt: NOW - 70_000, completedAt: NOW - 60_000 }, {}],
    ['ended well an hour ago', { state: 'succeeded', submittedAt: NOW - HOUR, completedAt: NOW - HOUR }, {}],
    [
      'ended well before, where answers are given once',
      { state: 'succeeded', completedAt: NOW - 5 },
      { maxAgeMs: 0 },
    ],
    ['is the one that failed', { state: 'failed', completedAt: NOW + 5 }, { after: 'query-0' }],
  ])('starts the next where the latest %s', async (_, changes, asked) => {
    recorded(make(changes));
    expect(await claim(asked)).toMatchObject({ execution: { id: 'query-1' }, joined: false });
  });

  it('starts the next where Athena has forgotten the latest', async () => {
    record = { document: { queryExecutionId: 'forgotten', submittedAt: NOW - 1 }, etag: 'before' };
    expect(await claim()).toMatchObject({ execution: { id: 'query-0' }, joined: false });
  });

  it('goes past executions that were started and not recorded', async () => {
    await claim();
    record = undefined;
    executions[0] = make({
      id: 'query-0',
      state: 'failed',
      submittedAt: NOW - HOUR,
      completedAt: NOW - HOUR,
    });
    expect((await claim()).execution.state).toBe('under-way');
  });

  it('does not go on for ever where every execution ends at once', async () => {
    const failing: QueryService = {
      ...queries,
      start: async () => make({ state: 'failed', submittedAt: NOW - HOUR, completedAt: NOW - HOUR }).id,
    };
    const { execution } = await claimQuery({ queries: failing, results }, order, terms);
    expect(execution.state).toBe('failed');
    expect(executions).toHaveLength(3);
  });

  it('lets all that saw one execution fail share its successor', async () => {
    const failed = make({ state: 'failed', completedAt: NOW + 1 });
    recorded(failed);
    const claims = await Promise.all([claim({ after: failed.id }), claim({ after: failed.id })]);
    expect(new Set(claims.map(({ execution }) => execution.id))).toEqual(new Set(['query-1']));
  });
});
