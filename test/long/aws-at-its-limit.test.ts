import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import type { FaultInput } from '../../local/faults/faults.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';

const REPORT = 'publisherperformance';
/** A result of this size is too large to be published while the caller waits. */
const LARGE_BYTES = 20_000_000;

/** The calls in the delivery of a small report. */
const CALLS: readonly Pick<FaultInput, 'on' | 'match'>[] = [
  { on: 'athena', match: 'StartQueryExecution' },
  { on: 'athena', match: 'GetQueryExecution' },
  { on: 's3', match: 'LIST performance-reports-events' },
  { on: 's3', match: 'GET jobs/' },
  { on: 's3', match: 'PUT jobs/' },
  { on: 's3', match: 'HEAD athena/' },
  { on: 's3', match: 'GET athena/' },
  { on: 's3', match: 'PUT reports/' },
  { on: 's3', match: 'PUT waiting/' },
  { on: 's3', match: 'GET waiting/' },
];
/** Further calls, which only the delivery of a large report makes. */
const CALLS_OF_LARGE_REPORTS: typeof CALLS = [
  { on: 's3', match: 'PUT publications/' },
  { on: 's3', match: 'GET publications/' },
  { on: 's3', match: 'HEAD abandoned/' },
  { on: 's3', match: 'HEAD reports/' },
  { on: 's3', match: 'POST reports/' },
];

/** The faults that a call can have, and what the title calls them. */
const TROUBLES: readonly (readonly [string, Partial<FaultInput>])[] = [
  ['throttled', { throttle: true }],
  ['not answered', { stall: true }],
];

const events = knownEvents(31, 200);
let asked = 0;
const freshQuestion = (): Question => ({
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: `2026-01-20T${new Date(++asked * 1_000).toISOString().slice(11, 19)}Z`,
});

interface Ending {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/** Follows redirects as a client does, up to a limit. */
async function follow(service: Service, question: Question, mostHops: number): Promise<Ending> {
  let response = await service.request(REPORT, queryOf(question));
  for (let hop = 0; response.status === 303 && hop < mostHops; hop++)
    response = await fetch(new URL(response.headers.get('location') ?? '', service.stack.apiUrl), {
      redirect: 'manual',
    });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.text(),
  };
}

describe.each(TROUBLES)('a call that is %s', (_, trouble) => {
  let patient: Service;
  let hurried: Service;
  beforeAll(async () => {
    const fast = { asyncRetryPausesMs: [100, 100], athenaQuotas: false } as const;
    patient = await startService(events, { ...fast, functionEnv: { [ENV.queryWaitMs]: '5000' } });
    hurried = await startService(events, {
      ...fast,
      functionEnv: { [ENV.queryWaitMs]: '300', [ENV.longestQueryMs]: '4000' },
    });
  });
  afterAll(() => Promise.all([patient.close(), hurried.close()]));

  const small: FaultInput = { on: 'query', delayMs: 100 };
  const large: FaultInput = { on: 'query', resultBytes: LARGE_BYTES };
  const cases = [
    ...CALLS.map((call) => ({ ...call, size: 'small', query: small })),
    ...CALLS_OF_LARGE_REPORTS.map((call) => ({ ...call, size: 'large', query: large })),
  ];

  it.each(cases)(
    'in its first try delays a $size report, but does not make it fail: $match',
    async ({ on, match, query, size }) => {
      const question = freshQuestion();
      patient.stack.faults.set([query, { on, ...(match && { match }), ...trouble, times: 1 }]);
      const { status, body } = await follow(patient, question, 10);
      expect({ status, struck: patient.stack.faults.current()[1]?.struck }).toEqual({
        status: 200,
        // A report that is ready within one request needs no ticket.
        struck: match?.includes('waiting/') ? 0 : 1,
      });
      const csv = expectedReport(REPORT, events.publisher_events, question);
      if (size === 'small') expect(body).toBe(csv);
      else expect(body.startsWith(csv)).toBe(true);
    },
  );

  it.each(cases)(
    'in every try leads to a 200, 303 or 503 for a $size report, never to a 500: $match',
    async ({ on, match, query }) => {
      const slow = { ...query, delayMs: 600 };
      hurried.stack.faults.set([slow, { on, ...(match && { match }), ...trouble }]);
      const { status, retryAfter, body } = await follow(hurried, freshQuestion(), 4);
      if (status === 503) expect(retryAfter).toMatch(/^\d+$/);
      else expect([200, 303], body).toContain(status);
    },
  );
});
