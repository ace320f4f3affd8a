import { describe, expect, it, vi } from 'vitest';
import { abandonmentHandler, publicationHandler } from '../../../lib/http/publication-handler.ts';
import type { Publication } from '../../../lib/results/publication-request.ts';
import { CSV, publishingRecord, START } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import { functionSetting } from './setting.ts';

useFakeTime();

const KEY = 'reports/q1/report.csv';
const REQUEST = 'publications/q1.json';
const RECORD = 'jobs/job-1.json';
const publication: Publication = {
  form: 1,
  executionId: 'q1',
  location: 's3://results/athena/q1.csv',
  key: KEY,
  fileName: 'report.csv',
  columns: [
    { name: 'Day', type: 'datetime' },
    { name: 'Clicks', type: 'integer' },
  ],
  partner: 'first-partner',
  record: RECORD,
};
const event = { detail: { object: { key: REQUEST } } };

describe('the publishing function', () => {
  const publishing = () => {
    const made = functionSetting();
    made.results.before('read', () => vi.setSystemTime(START + 5));
    const largeFilesUntil = (until: number) => {
      made.untils.push(until);
      return made.results;
    };
    const run = () =>
      publicationHandler({ ...made.dependencies, largeFilesUntil })(event, {
        getRemainingTimeInMillis: () => 900_000,
      });
    return { ...made, run };
  };

  it('publishes the requested result, within the function’s time, and writes one log line', async () => {
    const { results, run, lines, untils } = publishing();
    results.put(REQUEST, publication);
    results.putResult(publication.location, '"Day","Clicks"\n"2026-01-01T00:00:00Z","1"\n');
    await run();
    expect(results.objects.get(KEY)?.text).toBe(CSV);
    expect(untils).toEqual([START + 895_000, START + 895_000]);
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'publication',
        facts: { publication: REQUEST, durationMs: 5, queryExecutionId: 'q1', partner: 'first-partner' },
      },
    ]);
  });

  it('fails if the result is gone, so that Lambda runs it again, and logs an error', async () => {
    const { results, run, lines } = publishing();
    results.put(REQUEST, publication);
    await expect(run()).rejects.toThrow('the result of query q1 is gone');
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'publication',
        facts: {
          publication: REQUEST,
          durationMs: 5,
          queryExecutionId: 'q1',
          partner: 'first-partner',
          error: expect.objectContaining({ message: 'the result of query q1 is gone' }),
        },
      },
    ]);
  });
});

describe('the abandoning function', () => {
  it('records that the publication is abandoned, so that waiting requests end, and logs an error', async () => {
    const { dependencies, results, lines, untils } = functionSetting();
    results.put(REQUEST, publication);
    results.put(RECORD, publishingRecord());
    await abandonmentHandler(dependencies)(
      { requestContext: { condition: 'RetriesExhausted' }, requestPayload: event },
      { getRemainingTimeInMillis: () => 60_000 },
    );
    expect(results.document(RECORD)).toMatchObject({ state: 'failed', why: 'unpublished' });
    // This is five seconds before the function is cut off.
    expect(untils).toEqual([START + 55_000]);
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'publication abandoned',
        facts: {
          publication: REQUEST,
          queryExecutionId: 'q1',
          partner: 'first-partner',
          condition: 'RetriesExhausted',
        },
      },
    ]);
  });
});
