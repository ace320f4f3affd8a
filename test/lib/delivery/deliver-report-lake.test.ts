import { describe, expect, it, vi } from 'vitest';
import { QueryFailed } from '../../../lib/delivery/delivery.ts';
import { NoRecords, ReportTooLarge } from '../../../lib/problems/problem.ts';
import { ask, cachedKeyOf, keyOf, leftBy, recordOf, request, statusOf, textOf, versionOf } from './ask.ts';
import { CSV, type Setting, START, setting, termsNow } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

describe('a lake that changes', () => {
  const change = (of: () => Setting, name: string) => () => of().lake.add('2026-01-01', name);

  it('after a report: the next request gets a new report, and the first file stays unchanged', async () => {
    const of = setting({}, { csv: '"Day","Clicks"\n"2026-01-01T00:00:00Z","2"\n' });
    const first = await ask(of);
    of.lake.add('2026-01-01', 'b.parquet');
    const second = await ask(of);
    expect([statusOf(second), textOf(of, second)]).toEqual(['miss', CSV.replace(',1', ',2')]);
    expect(versionOf(second)).not.toBe(versionOf(first));
    expect(textOf(of, first)).toBe(CSV);
    of.lake.objects = of.lake.objects?.slice(0, 1);
    expect([statusOf(await ask(of)), keyOf(await ask(of))]).toEqual(['hit', keyOf(first)]);
  });

  it('during the query: only callers that waited get the report, which has no version and is not cached', async () => {
    const of: Setting = setting({ afterMs: 100, onStart: change(() => of, 'b.parquet') }, {});
    const answer = await ask(of);
    expect([statusOf(answer), versionOf(answer), textOf(of, answer)]).toEqual(['miss', undefined, CSV]);
    expect(recordOf(of)).toMatchObject({ isOfVersion: false });
    expect(recordOf(of)).not.toHaveProperty('goodForMs');
    expect(cachedKeyOf(of)).toBe('');
    of.lake.objects = of.lake.objects?.slice(0, 1);
    expect(statusOf(await ask(of))).toBe('miss');
    expect(of.queries.started).toHaveLength(2);
  });

  it('during the query, only in the times of its files: the report gets no version', async () => {
    const of: Setting = setting({
      afterMs: 100,
      onStart: () => {
        of.lake.objects = of.lake.objects?.map((object) => ({ ...object, lastModified: 2_000 }));
      },
    });
    expect(versionOf(await ask(of))).toBeUndefined();
  });

  it('is listed again after a query, even if the stage reuses listings', async () => {
    const of: Setting = setting({ onStart: change(() => of, 'b.parquet') });
    await ask(of, { listingMs: 60_000 });
    expect(of.lake.looks).toEqual([60_000, 0]);
  });

  it('during the query: callers get the report again for as long as the stage reuses a listing', async () => {
    const of: Setting = setting({ onStart: change(() => of, 'b.parquet') }, {});
    const listingMs = 60_000;
    const first = await ask(of, { listingMs });
    expect(recordOf(of)).toMatchObject({ isOfVersion: false, goodForMs: listingMs - 20 });
    // The result was seen after 20 ms. Another function may still have a listing from before the change. The
    // next line makes the lake look like that listing.
    of.lake.objects = of.lake.objects?.slice(0, 1);
    const again = await ask(of, { listingMs });
    expect([statusOf(again), keyOf(again), versionOf(again)]).toEqual(['hit', keyOf(first), undefined]);
    vi.setSystemTime(START + listingMs);
    expect(statusOf(await ask(of, { listingMs }))).toBe('miss');
  });

  it('during the query, while this machine’s clock is set back: no later caller gets the report', async () => {
    const of: Setting = setting({
      onStart: () => {
        change(() => of, 'b.parquet')();
        of.clock.skewMachine(-7_200_000);
      },
    });
    expect(versionOf(await ask(of, { listingMs: 60_000 }))).toBeUndefined();
    expect(recordOf(of)).toMatchObject({ state: 'succeeded', isOfVersion: false });
    expect(recordOf(of)).not.toHaveProperty('goodForMs');
  });

  it('during a query that fails: the requests that wait share one query of the new version', async () => {
    const of: Setting = setting(
      { ends: 'failed', afterMs: 100, onStart: change(() => of, 'b.parquet') },
      { afterMs: 100 },
    );
    const [leader, joined] = await settled(Promise.all([request(of), request(of)]));
    for (const answer of [leader, joined]) expect(answer && textOf(of, answer)).toBe(CSV);
    expect(leader && versionOf(leader)).toMatch(/^[0-9a-f]{32}$/);
    expect(of.queries.started).toHaveLength(2);
    expect(of.finished).toEqual(['failed', 'succeeded']);
  });

  it('only in the times of its files: a new request does not join the query for the earlier listing', async () => {
    const of = setting(
      { afterMs: 1_000, csv: '"Day","Clicks"\n"2026-01-01T00:00:00Z","2"\n' },
      { afterMs: 100 },
    );
    const first = request(of);
    await vi.advanceTimersByTimeAsync(100);
    of.lake.writeAgain();
    const second = await ask(of);
    expect([keyOf(second), textOf(of, second)]).toEqual([expect.stringContaining('reports/q2/'), CSV]);
    // The first request keeps its report, without a version: files were written during its query.
    const answer = await settled(first);
    expect([keyOf(answer), textOf(of, answer), versionOf(answer)]).toEqual([
      expect.stringContaining('reports/q1/'),
      CSV.replace(',1', ',2'),
      undefined,
    ]);
    expect(versionOf(second)).toMatch(/^[0-9a-f]{32}$/);
    expect(of.finished).toEqual(['succeeded', 'succeeded']);
  });

  it('only in the times of its files: the next request gets the cached report, without a query', async () => {
    const of = setting({ afterMs: 100 });
    const first = await ask(of);
    of.lake.writeAgain();
    const second = await ask(of);
    expect([statusOf(second), keyOf(second), versionOf(second)]).toEqual([
      'hit',
      keyOf(first),
      versionOf(first),
    ]);
  });

  it('only in the times of its files: a report that exceeded the scan limit is refused again, without a query', async () => {
    const of = setting({ ends: 'scan-limit-exceeded', afterMs: 100 });
    await ask(of);
    of.lake.writeAgain();
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(of.queries.started).toHaveLength(1);
  });

  it('during a query that exceeds the scan limit: the service does not cache the refusal for the version', async () => {
    const of: Setting = setting(
      { ends: 'scan-limit-exceeded', afterMs: 100, onStart: change(() => of, 'b.parquet') },
      { afterMs: 100 },
    );
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(cachedKeyOf(of)).toBe('');
    of.lake.objects = of.lake.objects?.slice(0, 1).map((object) => ({ ...object, lastModified: 2_000 }));
    expect(statusOf(await ask(of))).toBe('miss');
  });

  it('during a query, and back again before the caller returns: the service does not cache the report', async () => {
    const of: Setting = setting(
      { afterMs: 26_000, onStart: change(() => of, 'wrong.parquet') },
      { afterMs: 100 },
    );
    const { giveUpAt, publishUntil, askedAt } = termsNow();
    const left = leftBy(await ask(of));
    // The query has read the wrong file. Four minutes after its end the file is deleted: the listing is as before.
    await vi.advanceTimersByTimeAsync(240_000);
    of.lake.objects = of.lake.objects?.slice(0, 1);
    await vi.advanceTimersByTimeAsync(60_000);
    const answer = await ask(of, { askedAt, giveUpAt, publishUntil }, left);
    expect(answer.delivery).toMatchObject({ state: 'ready', key: expect.stringContaining('reports/q1/') });
    expect([versionOf(answer), cachedKeyOf(of)]).toEqual([undefined, '']);
    expect((await ask(of)).delivery).toMatchObject({
      cacheStatus: 'miss',
      key: expect.stringContaining('reports/q2/'),
    });
  });

  // The request that takes over finds the result at once, `lateMs` after the query's end.
  it.each([
    [9_999, true],
    [10_000, false],
  ])(
    'but not during the query: a request that takes the attempt over %d ms after the query’s end makes a cached report: %s',
    async (lateMs, isOfVersion) => {
      const of = setting({ ends: 'succeeded', afterMs: 30_000 });
      const { giveUpAt, publishUntil, askedAt } = termsNow();
      const left = leftBy(await ask(of));
      vi.setSystemTime(START + 30_000 + lateMs);
      of.results.putResult('s3://results/athena/q1.csv', '"Day","Clicks"\n');
      expect(versionOf(await ask(of, { askedAt, giveUpAt, publishUntil }, left)) !== undefined).toBe(
        isOfVersion,
      );
      expect(cachedKeyOf(of) !== '').toBe(isOfVersion);
    },
  );
});

describe('a lake that can not be listed', () => {
  it('is queried again for each request, and no report has a version', async () => {
    const of = setting({}, {});
    of.lake.objects = undefined;
    const answers = [await ask(of), await ask(of)];
    expect(answers.map(statusOf)).toEqual(['miss', 'miss']);
    expect(answers.map(versionOf)).toEqual([undefined, undefined]);
    expect(recordOf(of)).toMatchObject({ isOfVersion: false });
    expect(recordOf(of)).not.toHaveProperty('goodForMs');
    expect(of.lake.looks).toEqual([0, 0]);
  });

  it('never lets the service give a report again, even if the stage reuses listings', async () => {
    const of = setting({});
    of.lake.objects = undefined;
    await ask(of, { listingMs: 60_000 });
    expect(recordOf(of)).not.toHaveProperty('goodForMs');
  });

  it('does not count as changed when a query fails', async () => {
    const of = setting({ ends: 'failed' });
    of.lake.objects = undefined;
    expect((await ask(of)).error).toBeInstanceOf(QueryFailed);
  });
});

describe('a table that is emptied during its query', () => {
  const empty = (of: () => Setting) => () => {
    of().lake.objects = [];
    of().lake.isTableMissing = true;
  };

  it('gives the report of the query that succeeded, without a version', async () => {
    const of: Setting = setting({ afterMs: 100, onStart: empty(() => of) });
    const answer = await ask(of);
    expect([textOf(of, answer), versionOf(answer), cachedKeyOf(of)]).toEqual([CSV, undefined, '']);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('causes a 404 for the caller whose query failed, and for the next request', async () => {
    const of: Setting = setting({ ends: 'failed', afterMs: 100, onStart: empty(() => of) });
    expect((await ask(of)).error).toBeInstanceOf(NoRecords);
    expect((await ask(of)).error).toBeInstanceOf(NoRecords);
    expect([of.finished, of.queries.started.length]).toEqual([['failed'], 1]);
  });
});
