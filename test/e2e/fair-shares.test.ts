import { AthenaClient, GetQueryExecutionCommand, ListQueryExecutionsCommand } from '@aws-sdk/client-athena';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import { expectedReport, type Question } from './expected-report.ts';
import { knownEvents } from './known-events.ts';
import { type Service, startService } from './service.ts';

const MOST = 2;
const QUERY_MS = 700;
/**
 * Athena reports a query's end up to this long after the result exists. The slot is free as soon as the result exists,
 * so the next query may start before the reported end.
 */
const RESULT_MS = 150;

const events = knownEvents(23, 200);
let asked = 0;
/** A new question, which has no stored report and no query yet. */
const freshQuestion = (): Question => ({
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: `2026-01-20T${new Date(++asked * 1_000).toISOString().slice(11, 19)}Z`,
});
const expected = (question: Question) =>
  expectedReport('publisherperformance', events.publisher_events, question);

let service: Service;
let athena: AthenaClient;
beforeAll(async () => {
  service = await startService(events, {
    functionEnv: { [ENV.queryWaitMs]: '1000', [ENV.queriesPerPartner]: String(MOST) },
  });
  // The first request of a function takes longer than later ones.
  await pull(freshQuestion());
  athena = new AthenaClient({
    endpoint: service.stack.athenaUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
});
afterAll(() => service.close());

const pull = (question: Question) => service.pull('publisherperformance', question);

/** When the latest queries were submitted and completed, in milliseconds since 1970. */
async function latestQueries(count: number) {
  const { QueryExecutionIds = [] } = await athena.send(new ListQueryExecutionsCommand({}));
  return Promise.all(
    QueryExecutionIds.slice(0, count).map(async (QueryExecutionId) => {
      const { QueryExecution } = await athena.send(new GetQueryExecutionCommand({ QueryExecutionId }));
      return {
        from: QueryExecution?.Status?.SubmissionDateTime?.getTime() ?? Number.NaN,
        to: QueryExecution?.Status?.CompletionDateTime?.getTime() ?? Number.POSITIVE_INFINITY,
      };
    }),
  );
}

describe('a partner that asks for more reports at once than it has slots', () => {
  it('gets every report by a plain GET, and never has more running queries than slots', async () => {
    service.stack.faults.set([{ on: 'query', delayMs: QUERY_MS }]);
    const questions = Array.from({ length: 5 }, freshQuestion);
    expect(await Promise.all(questions.map(pull))).toEqual(questions.map(expected));
    const queries = await latestQueries(questions.length);
    const atOnce = queries.map(
      ({ from: at }) => queries.filter(({ from, to }) => from <= at && at < to - RESULT_MS).length,
    );
    expect(Math.max(...atOnce)).toBe(MOST);
  });
});
