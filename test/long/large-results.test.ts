import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';

const MB = 1_000_000;
const events = knownEvents(21, 500);
const question = (end: string): Question => ({
  fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'Opens', 'Revenue'],
  start: '2026-01-01T00:00:00Z',
  end,
});
const rowsOf = (csv: string) => csv.slice(csv.indexOf('\n') + 1);

let service: Service;
beforeAll(async () => {
  service = await startService(events, { functionEnv: { [ENV.queryWaitMs]: '2000' } });
});
beforeEach(() => service.stack.faults.set([]));
afterAll(() => service.close());

/** Downloads a report without holding it; resolves to its size and digest, and the most memory seen meanwhile. */
async function digestOf(asked: Question) {
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const response = await service.request('publisherperformance', queryOf(asked), { redirect: 'follow' });
  expect(response.status).toBe(200);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  clearInterval(watch);
  return { bytes, digest: hash.digest('hex'), peak };
}

/** What the report must be: the expected rows, all of them, so many times. */
function repeated(asked: Question, bytes: number) {
  const csv = expectedReport('publisherperformance', events.publisher_events, asked);
  const header = csv.slice(0, csv.indexOf('\n') + 1);
  const rounds = (bytes - header.length) / Buffer.byteLength(rowsOf(csv));
  const hash = createHash('sha256').update(header);
  for (let round = 0; round < rounds; round++) hash.update(rowsOf(csv));
  return { rounds, digest: hash.digest('hex') };
}

describe('a result of a gigabyte', () => {
  it('is published whole, with flat memory', async () => {
    const asked = question('2026-01-07T00:00:00Z');
    // Once small, so that everything that is made once is there.
    await digestOf(question('2026-01-06T00:00:00Z'));
    const idle = process.memoryUsage.rss();
    service.stack.faults.set([{ on: 'query', resultBytes: 1_000 * MB }]);
    const { bytes, digest, peak } = await digestOf(asked);
    const expected = repeated(asked, bytes);
    expect(Number.isInteger(expected.rounds)).toBe(true);
    expect(bytes).toBeGreaterThan(700 * MB);
    expect(digest).toBe(expected.digest);
    process.stdout.write(
      `${Math.round(bytes / MB)} MB delivered, ${Math.round((peak - idle) / MB)} MB above idle\n`,
    );
    expect(peak - idle).toBeLessThan(200 * MB);
  });
});

describe('a publication whose process is killed', () => {
  it('at ten different moments never shows a part of the report, and the next request delivers', async () => {
    const moments = Array.from({ length: 10 }, (_, index) => index);
    for (const moment of moments) {
      const asked = question(`2026-01-06T12:00:0${moment}Z`);
      service.stack.faults.set([
        { on: 'query', resultBytes: 120 * MB },
        // Every call of the upload takes a while, so that there are moments to kill it at.
        { on: 's3', match: `PUT reports/`, delayMs: 150 },
        { on: 's3', match: `POST reports/`, delayMs: 150 },
      ]);
      const calls = () =>
        service.stack.faults.current().reduce((sum, { on, matched }) => sum + (on === 's3' ? matched : 0), 0);
      const delivery = digestOf(asked);
      await expect.poll(calls, { timeout: 60_000, interval: 5 }).toBeGreaterThan(moment);
      await service.stack.sandboxes.get('publish')?.kill();

      // Whoever looks now finds the whole report or none: nothing is ever read that isn't all of it.
      const { bytes, digest } = await delivery;
      expect(digest).toBe(repeated(asked, bytes).digest);
      expect(await digestOf(asked)).toMatchObject({ bytes, digest });
    }
  });
});
