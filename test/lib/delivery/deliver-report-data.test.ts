import { describe, expect, it, vi } from 'vitest';
import { PublicationFailed } from '../../../lib/delivery/delivery.ts';
import { abandonPublication, publishLarge, readPublication } from '../../../lib/delivery/files.ts';
import { NoRecords, Unavailable } from '../../../lib/problems/problem.ts';
import { ask, following, request } from './ask.ts';
import type { Plan } from './memory-queries.ts';
import { CSV, LARGE, type Setting, START, setting } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const soon = { afterMs: 100 };

describe('a lake that changes', () => {
  /** A setting whose lake gets a file with each query's start. */
  const changing = (...plans: Plan[]): Setting => {
    const onStart = () => of.lake.add('2026-01-01', `${of.queries.started.length}.parquet`);
    const of: Setting = setting(...plans.map((plan) => ({ onStart, ...plan })));
    return of;
  };
  const failing: Plan = { ...soon, ends: 'failed' };

  it('after a report, gives a new report; as it was before, the earlier report', async () => {
    const of = setting({}, {});
    const first = await ask(of);
    of.lake.add('2026-01-01', 'b.parquet');
    const second = await ask(of);
    expect([second.status, second.version === first.version]).toEqual(['miss', false]);
    of.lake.objects = of.lake.objects?.slice(0, 1);
    of.lake.writeAgain();
    expect((await ask(of)).delivery).toEqual({ ...first.delivery, cacheStatus: 'hit' });
  });

  it('during the query, gives a report without a version, as long as the stage reuses listings', async () => {
    const of = changing({}, {});
    const listing = { listingMs: 60_000 };
    const first = await ask(of, listing);
    expect([first.text, first.version, of.lake.looks]).toEqual([CSV, undefined, [60_000, 0]]);
    // Another function may still have the listing from before the change.
    of.lake.objects = of.lake.objects?.slice(0, 1);
    expect((await ask(of, listing)).delivery).toEqual({ ...first.delivery, cacheStatus: 'hit' });
    vi.setSystemTime(START + 60_000);
    expect((await ask(of, listing)).key).toContain('reports/q2/');
  });

  it('during a query that fails, starts one query of the new version for all who wait', async () => {
    const of = changing(failing, { ...soon, onStart: () => {} });
    const answers = await settled(Promise.all([request(of), request(of)]));
    expect(answers.map(({ text }) => text)).toEqual([CSV, CSV]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['collapsed', 'miss']);
    expect(of.finished).toEqual(['failed', 'succeeded']);
  });

  it('during each query, starts three times anew, and then is answered 503', async () => {
    const of = changing(failing, failing, failing, failing);
    expect((await ask(of)).error).toMatchObject({ message: expect.stringContaining('are being rewritten') });
    expect(of.finished).toEqual(Array(4).fill('failed'));
  });

  it.each<['failed' | 'succeeded', unknown]>([
    ['succeeded', CSV],
    ['failed', expect.any(NoRecords)],
  ])('by the removal of its table during a query that has %s', async (ends, outcome) => {
    const onStart = () => Object.assign(of.lake, { objects: [], isTableMissing: true });
    const of: Setting = setting({ ...soon, ends, onStart });
    const answer = await ask(of);
    expect([answer.error ?? answer.text, answer.version]).toEqual([outcome, undefined]);
    expect((await ask(of)).error).toBeInstanceOf(NoRecords);
  });

  it('so that it can’t be listed: each request starts a query, and no report has a version', async () => {
    const of = setting({ afterMs: 9_000 }, {}, { ends: 'failed' });
    of.lake.objects = undefined;
    const left = (await ask(of, { waitUntil: START + 3_000 })).left;
    const answers = [await ask(of, {}, left), await ask(of)];
    expect(answers.map(({ status }) => status)).toEqual(['miss', 'miss']);
    expect(answers.map(({ version }) => version)).toEqual([undefined, undefined]);
    expect((await ask(of)).error).toMatchObject({ message: 'query q3 FAILED: boom' });
  });
});

describe('a large result', () => {
  const large = { ...soon, bytes: LARGE };
  const publication = async ({ results }: Setting) => {
    const wanted = await readPublication(results, 'publications/q1.json');
    if (!wanted) throw new Error('there is no publication');
    return wanted;
  };

  it.each([
    ['gzip', 'plain', '.gz', ''],
    ['plain', 'gzip', '', ''],
  ])('is published for the first caller’s encoding first: %s, then %s', async (one, _, first, second) => {
    const of = setting(large);
    const own = request(of, { acceptsGzip: one === 'gzip' });
    const other = request(of, { acceptsGzip: one !== 'gzip' });
    await vi.advanceTimersByTimeAsync(2_000);
    // Who comes now waits too, for longer than its query may take.
    expect((await ask(of, { waitUntil: Date.now() + 10, giveUpAt: Date.now() })).status).toBe('waiting');
    const { uploadFile } = of.results;
    of.results.uploadFile = async (key, ...given) => {
      await new Promise((resolve) =>
        setTimeout(resolve, key.endsWith('.gz') === (one === 'gzip') ? 2_000 : 10_000),
      );
      return uploadFile(key, ...given);
    };
    const publishing = publishLarge(of.results, await publication(of));
    const [mine, joined] = await settled(Promise.all([own, other, publishing]));
    const { key } = await publication(of);
    expect([mine.key, mine.status, mine.ms < 5_000]).toEqual([key + first, 'miss', true]);
    // Who takes gzip takes the plain file if that is there first.
    expect([joined.key, joined.status, joined.ms > 14_000]).toEqual([
      key + second,
      'collapsed',
      one === 'gzip',
    ]);
    expect(of.record()).toMatchObject({ state: 'done', rows: 1, files: { gzip: expect.any(Number) } });
    expect([of.results.callsOf('writeFile'), of.finished]).toEqual([[], ['succeeded']]);
  });

  it.each([
    [START + 1_000, undefined],
    [START + 1_001, 'waiting'],
  ])('is waited for until the time `publishUntil` (%d)', async (publishUntil, state) => {
    const terms = { waitUntil: START + 1_000, giveUpAt: START + 900, publishUntil };
    const { delivery, error } = await ask(setting(large), terms);
    expect([delivery?.state, error instanceof Unavailable]).toEqual([state, state === undefined]);
  });

  it('causes an error for who waited for its query when it is given up; the next caller starts a query', async () => {
    const of = setting({ ...large, afterMs: 2_000 }, soon);
    const answering = Promise.all([following(of), following(of)]);
    await vi.advanceTimersByTimeAsync(40_000);
    await abandonPublication(of.results, 'publications/q1.json');
    for (const { error } of await settled(answering)) expect(error).toBeInstanceOf(PublicationFailed);
    expect((await ask(of)).text).toBe(CSV);
  });
});
