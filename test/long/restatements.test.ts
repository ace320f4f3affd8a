import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataState } from '../../lib/lake/data-version.ts';
import type { LakeObject } from '../../lib/lake/lake.ts';
import { ENV } from '../../lib/names.ts';
import { daysBetween, daysOf } from '../../lib/report/utc-time.ts';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { writeEvents } from '../../local/events/write-events.ts';
import { engineOver } from '../e2e/engine.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents, randomNumbers } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';
import { s3Of } from '../s3-of.ts';

const RESTATEMENTS = 500;
const CALLERS = 6;
const REST_MS = 900;
const DAYS = ['2026-01-05', '2026-01-06', '2026-01-07'];
const REPORT = 'publisherperformance';
const EVENTS_BUCKET = 'performance-reports-events';
const FOLDER = 'publisher_events/';

const window = { start: '2026-01-05T00:00:00Z', end: '2026-01-08T00:00:00Z' };
const SHAPES: readonly Question[] = [
  { fields: ['ServedAds', 'Clicks', 'Revenue'], ...window },
  { fields: ['Day', 'Opens'], ...window },
  { fields: ['DateTime', 'PlacementId', 'Opens', 'Revenue'], ...window },
  { fields: ['ContainerId', 'Clicks'], ...window, start: '2026-01-06T00:00:00Z' },
  { fields: ['DeviceOrProxy', 'ServedAds'], ...window, end: '2026-01-06T12:00:00Z' },
];

/** One version of a file, ready to be moved into the lake, and the records in it. */
interface StagedFile {
  readonly path: string;
  readonly day: string;
  readonly rows: readonly EventRow[];
}

/** The lake's records, and the earliest and the latest moment at which the lake may have had them. */
interface LakeState {
  readonly rows: readonly EventRow[];
  /** For each question in `SHAPES`, the data version of its window, computed from a listing of S3. */
  readonly versions: readonly string[];
  readonly from: number;
  until: number;
}

interface Answer {
  readonly shape: number;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly body: string;
  readonly cacheStatus: string | null;
  readonly dataVersion: string | null;
  readonly location: string;
}

const random = randomNumbers(4711);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/**
 * Settles when the last `act` has ended. The lake must not change while the engine reads, because engines differ in
 * what they then read.
 */
let turn: Promise<unknown> = Promise.resolve();
function alone<T>(act: () => Promise<T>): Promise<T> {
  const done = turn.then(act);
  turn = done.catch(() => {});
  return done;
}

/** An engine that waits a random time before and after each query. */
const slowly =
  (open: OpenEngine): OpenEngine =>
  async (options) => {
    const engine = await open(options);
    return {
      ...engine,
      async run(query) {
        await delay(Math.random() * 150);
        const outcome = await alone(() => engine.run(query));
        await delay(Math.random() * 150);
        return outcome;
      },
    };
  };

let home: string;
let lake: string;
let service: Service;
let s3: S3Client;
const lakeFiles = new Map<string, StagedFile>();
const states: LakeState[] = [];
let staged: StagedFile[];

const inLake = (name: string, day: string) => join(lake, 'publisher_events', `day=${day}`, name);

/** Makes files of a few records each. The files are not in the lake yet. */
async function stage(count: number): Promise<StagedFile[]> {
  const events = knownEvents(99, 4 * count).publisher_events;
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const day = DAYS[index % DAYS.length] as string;
      const rows = events
        .slice(4 * index, 4 * index + 4)
        .map((row) => ({ ...row, event_time: `${day}${String(row['event_time']).slice(10)}` }));
      const directory = join(home, `staged-${index}`);
      await writeEvents(directory, 'publisher_events', rows as never);
      const folder = join(directory, 'publisher_events', `day=${day}`);
      const [name = ''] = await readdir(folder);
      return { path: join(folder, name), day, rows };
    }),
  );
}

/** For each question in `SHAPES`, the current data version of its window. */
async function versionsNow(): Promise<string[]> {
  const objects: LakeObject[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client: s3 },
    { Bucket: EVENTS_BUCKET, Prefix: `${FOLDER}day=` },
  ))
    for (const { Key = '', ETag = '', Size = 0, LastModified } of Contents)
      objects.push({ key: Key, etag: ETag, bytes: Size, lastModified: LastModified?.getTime() ?? 0 });
  return SHAPES.map(({ start, end }) => {
    const { first, last } = daysOf({ start: Date.parse(start), end: Date.parse(end) });
    const folders = daysBetween(first, last).map((day) => `${FOLDER}day=${day}/`);
    const inWindow = objects.filter(({ key }) => folders.some((folder) => key.startsWith(folder)));
    return dataState({ objects: inWindow, listedAt: 0 }, FOLDER).version;
  });
}

/** Changes the lake, and records its new state. */
async function change(act: () => Promise<void>): Promise<void> {
  await alone(async () => {
    const from = performance.now();
    await act();
    const last = states.at(-1);
    if (last) last.until = performance.now();
    states.push({
      versions: await versionsNow(),
      rows: [...lakeFiles.values()].flatMap(({ rows }) => rows),
      from,
      until: Number.POSITIVE_INFINITY,
    });
  });
}

async function move(name: string, file: StagedFile): Promise<void> {
  await rename(file.path, inLake(name, file.day));
  lakeFiles.set(name, { ...file, path: inLake(name, file.day) });
}
const add = (name: string, file: StagedFile) => change(() => move(name, file));
const remove = (name: string): Promise<void> =>
  change(async () => {
    const file = lakeFiles.get(name);
    if (!file) throw new Error(`there is no ${name}`);
    const back = join(home, `${name}-${performance.now()}`);
    await rename(file.path, back);
    staged.push({ ...file, path: back });
    lakeFiles.delete(name);
  });

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'restatements-'));
  lake = join(home, 'lake');
  for (const day of DAYS) await mkdir(join(lake, 'publisher_events', `day=${day}`), { recursive: true });
  const { advertiser_events } = knownEvents(3, 20);
  await writeEvents(lake, 'advertiser_events', advertiser_events as never);
  staged = await stage(90);
  for (const [index, file] of staged.splice(0, 6).entries()) await move(`first-${index}.parquet`, file);
  service = await startService({ publisher_events: [], advertiser_events: [] } as never, {
    openEngine: slowly(engineOver(lake)),
    eventsDirectory: lake,
    maxRunning: 8,
    // The links of the first reports must be valid until the end of the test, however slow the machine is.
    functionEnv: { [ENV.downloadUrlSeconds]: '43200' },
  });
  s3 = s3Of(service.stack);
  await change(async () => {});
}, 120_000);
afterAll(async () => {
  s3.destroy();
  await service.close();
  await rm(home, { recursive: true, force: true });
});

/** Adds, replaces and removes files. About a third of the restatements add a file and remove it again. */
async function restate(): Promise<Record<string, number>> {
  const made = { added: 0, replaced: 0, removed: 0, 'added and removed again': 0 };
  let count = 0;
  const names = () => [...lakeFiles.keys()];
  const stagedFor = (day: string) => {
    const index = staged.findIndex((file) => file.day === day);
    return staged.splice(Math.max(index, 0), 1)[0] as StagedFile;
  };
  while (count < RESTATEMENTS) {
    const draw = random();
    if (draw < 0.3) {
      const name = `passing-${count}.parquet`;
      await add(name, stagedFor(pick(DAYS)));
      await delay(random() * 60);
      await remove(name);
      made['added and removed again'] += 1;
    } else if (draw < 0.55 && staged.length > 20) {
      await add(`added-${count}.parquet`, stagedFor(pick(DAYS)));
      made.added += 1;
    } else if (draw < 0.8) {
      const name = pick(names());
      const was = lakeFiles.get(name) as StagedFile;
      const file = stagedFor(was.day);
      await change(async () => {
        await rename(was.path, join(home, `old-${count}`));
        staged.push({ ...was, path: join(home, `old-${count}`) });
        await move(name, file);
      });
      made.replaced += 1;
    } else if (lakeFiles.size > 3) {
      await remove(pick(names()));
      made.removed += 1;
    } else continue;
    count += 1;
    // After every eighth restatement the lake rests, so that reports can be cached and given again.
    await delay(count % 8 === 0 ? REST_MS : random() * 80);
  }
  return made;
}

async function ask(shape: number): Promise<Answer> {
  const question = SHAPES[shape] as Question;
  const askedAt = performance.now();
  let response = await service.request(REPORT, queryOf(question));
  let last = response;
  while (response.status === 303) {
    last = response;
    response = await fetch(new URL(response.headers.get('location') ?? '', service.stack.apiUrl), {
      redirect: 'manual',
    });
  }
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${body}`);
  return {
    shape,
    askedAt,
    answeredAt: performance.now(),
    body,
    cacheStatus: last.headers.get('cache-status'),
    dataVersion: last.headers.get('data-version'),
    location: last.headers.get('location') ?? '',
  };
}

const oracles = new Map<string, string>();
const oracle = (state: number, shape: number): string => {
  const key = `${state} ${shape}`;
  const known =
    oracles.get(key) ?? expectedReport(REPORT, states[state]?.rows ?? [], SHAPES[shape] as Question);
  oracles.set(key, known);
  return known;
};

describe('a report on a lake that is restated all the time', () => {
  it('shows the lake as it was at one moment of the request, and matches the version that it names', async () => {
    const answers: Answer[] = [];
    const links: { readonly url: string; readonly body: string }[] = [];
    let isOver = false;
    const caller = async () => {
      while (!isOver) {
        const answer = await ask(Math.floor(Math.random() * SHAPES.length));
        answers.push(answer);
        if (links.length < 20) links.push({ url: answer.location, body: answer.body });
      }
    };
    const linkHolder = async () => {
      let fetched = 0;
      while (!isOver) {
        await delay(100);
        const link = links[fetched % Math.max(links.length, 1)];
        if (!link) continue;
        fetched += 1;
        const [whole, part] = await Promise.all([
          fetch(link.url).then((response) => response.text()),
          fetch(link.url, { headers: { Range: 'bytes=5-40' } }).then((response) => response.text()),
        ]);
        expect(whole).toBe(link.body);
        expect(part).toBe(Buffer.from(link.body).subarray(5, 41).toString());
      }
      return fetched;
    };
    const running = Promise.all([linkHolder(), ...Array.from({ length: CALLERS }, caller)]);
    const made = await restate().finally(() => {
      isOver = true;
    });
    const [fetched] = await running;

    // Each report fits one of the states that the lake had during the request.
    const wrong = answers.filter(
      ({ shape, askedAt, answeredAt, body }) =>
        !states.some(
          ({ from, until }, index) => from <= answeredAt && until >= askedAt && oracle(index, shape) === body,
        ),
    );
    expect(
      wrong.map(({ shape, askedAt, answeredAt, body, cacheStatus }) => ({
        shape,
        cacheStatus,
        during: states.flatMap(({ from, until }, i) => (from <= answeredAt && until >= askedAt ? [i] : [])),
        right: states.flatMap((_, i) => (oracle(i, shape) === body ? [i] : [])),
      })),
    ).toEqual([]);
    // If an answer names a version, the lake had a state with this version, and the report fits each such state.
    const versioned = answers.filter(({ dataVersion }) => dataVersion !== null);
    const misnamed = versioned.flatMap(({ shape, dataVersion, body, cacheStatus }) => {
      const named = states.flatMap(({ versions }, i) => (versions[shape] === dataVersion ? [i] : []));
      const isRight = named.length > 0 && named.every((index) => oracle(index, shape) === body);
      return isRight ? [] : [{ shape, dataVersion, cacheStatus, named }];
    });
    expect(misnamed).toEqual([]);
    const versions = new Set(versioned.map(({ dataVersion }) => dataVersion));
    expect(versions.size).toBeGreaterThan(10);

    const hits = answers.filter(({ cacheStatus }) => cacheStatus?.endsWith('hit'));
    for (const { dataVersion } of hits) expect(dataVersion).not.toBeNull();
    process.stdout.write(
      `${JSON.stringify({ ...made, states: states.length, answers: answers.length, hits: hits.length, joined: answers.filter(({ cacheStatus }) => cacheStatus?.endsWith('collapsed')).length, versions: versions.size, linksFetched: fetched })}\n`,
    );
    expect(made['added and removed again']).toBeGreaterThanOrEqual(100);
    expect(hits.length).toBeGreaterThan(0);
  });

  it('is a hit and shows the final lake for the second request after the last restatement', async () => {
    for (const shape of SHAPES.keys()) {
      const first = await ask(shape);
      service.stack.faults.set([{ on: 's3' }, { on: 'athena' }]);
      const again = await service.request(REPORT, queryOf(SHAPES[shape] as Question));
      const [s3, athena] = service.stack.faults.current();
      expect(again.headers.get('cache-status')).toBe('PerformanceReports; hit');
      expect(athena?.matched).toBe(0);
      // The listing and the record take one call each.
      expect(s3?.matched).toBe(2);
      service.stack.faults.set([]);
      const body = await (await fetch(again.headers.get('location') ?? '')).text();
      expect(body).toBe(first.body);
      expect(body).toBe(oracle(states.length - 1, shape));
    }
  });
});
