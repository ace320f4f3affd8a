import { beforeEach, describe, expect, it, vi } from 'vitest';
import { reportHandler } from '../../../lib/http/report-handler.ts';
import { ENV } from '../../../lib/names.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import type { Plan } from '../delivery/memory-queries.ts';
import { START } from '../delivery/setting.ts';
import { functionSetting, invoke, requestEvent } from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('../delivery/gzipped-at-once.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

/** The answer to a request for two fields of the publisher report, with the log lines of the request. */
async function answerTo({ headers = {}, plan = {} }: { headers?: Record<string, string[]>; plan?: Plan }) {
  const env = { [ENV.longestQueryMs]: '100000' };
  const { dependencies, lines } = functionSetting(env, plan);
  const handler = reportHandler(publisherReport, { ...dependencies, verifyToken: async () => ({}) });
  const parameters = {
    requestedFields: ['Day,Clicks'],
    startInclusive: ['2026-01-01T00:00:00Z'],
    endExclusive: ['2026-01-03T00:00:00Z'],
    'api-version': ['1.0'],
  };
  const answering = invoke(
    handler,
    requestEvent({ path: '/reporting/publisherperformance', headers, parameters }),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return { answer: await answering, lines };
}

describe('a report that is ready', () => {
  it('is the gzipped file for a caller that accepts gzip, and the plain file for any other', async () => {
    const gzipped = await answerTo({ headers: { 'Accept-Encoding': ['gzip, br'] } });
    expect(gzipped.answer.headers?.['Location']).toMatch(/\.csv\.gz\?for=300$/);
    const plain = await answerTo({ headers: { 'Accept-Encoding': ['br'] } });
    expect(plain.answer.headers?.['Location']).toMatch(/\.csv\?for=300$/);
  });

  it('is audited with the requested fields, in their order', async () => {
    const { lines } = await answerTo({});
    expect(lines).toMatchObject([
      { message: 'download', facts: { requestedFields: 'Day,Clicks' } },
      { message: 'request' },
    ]);
  });
});

describe('a report whose large result is being published', () => {
  it('is answered with a redirect to a waiting URL', async () => {
    const { answer } = await answerTo({ plan: { bytes: 17_000_000 } });
    expect(answer).toMatchObject({
      statusCode: 303,
      headers: { Location: expect.stringMatching(/^\/prod\/reporting\/downloads\/[\w-]+\/1$/) },
    });
  });
});
