import { describe, expect, it, vi } from 'vitest';
import { abandonmentHandler, publicationHandler } from '../../../lib/http/publication-handler.ts';
import { CSV, ENGINE_CSV, publication, publishingRecord, START } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import { functionSetting } from './setting.ts';

useFakeTime();

const REQUEST = 'publications/q1.json';
const event = { detail: { object: { key: REQUEST } } };
const common = { publication: REQUEST, queryExecutionId: 'q1', partner: 'first-partner' };

describe('the publishing function', () => {
  const publishing = () => {
    const made = functionSetting();
    made.results.before('read', () => vi.setSystemTime(START + 5));
    const largeFilesUntil = (until: number) => {
      made.untils.push(until);
      return made.results;
    };
    const dependencies = { ...made.dependencies, largeFilesUntil };
    const run = () => publicationHandler(dependencies)(event, { getRemainingTimeInMillis: () => 900_000 });
    return { ...made, run };
  };

  it('publishes the requested result, within the function’s time, and writes one log line', async () => {
    const { results, run, lines, untils } = publishing();
    results.put(REQUEST, publication);
    results.putResult(publication.location, ENGINE_CSV);
    await run();
    expect(results.objects.get(publication.key)?.text).toBe(CSV);
    expect(untils).toEqual([START + 895_000, START + 895_000]);
    expect(lines).toEqual([{ level: 'info', message: 'publication', facts: { ...common, durationMs: 5 } }]);
  });

  it('fails if the result is gone, so that Lambda runs it again, and logs an error', async () => {
    const { results, run, lines } = publishing();
    results.put(REQUEST, publication);
    await expect(run()).rejects.toThrow('the result of query q1 is gone');
    const error = expect.objectContaining({ message: 'the result of query q1 is gone' });
    const facts = { ...common, durationMs: 5, error };
    expect(lines).toEqual([{ level: 'error', message: 'publication', facts }]);
  });
});

describe('the abandoning function', () => {
  it('records that the publication is abandoned, so that waiting requests end, and logs an error', async () => {
    const { dependencies, results, lines, untils } = functionSetting();
    results.put(REQUEST, publication);
    results.put(publication.record, publishingRecord());
    await abandonmentHandler(dependencies)(
      { requestContext: { condition: 'RetriesExhausted' }, requestPayload: event },
      { getRemainingTimeInMillis: () => 60_000 },
    );
    expect(results.document(publication.record)).toMatchObject({ state: 'failed', why: 'unpublished' });
    // This is five seconds before the function is cut off.
    expect(untils).toEqual([START + 55_000]);
    const facts = { ...common, condition: 'RetriesExhausted' };
    expect(lines).toEqual([{ level: 'error', message: 'publication abandoned', facts }]);
  });
});
