import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { writeEvents } from '../../local/events/write-events.ts';
import { engineOver } from '../e2e/engine.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents, randomNumbers } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';

const RESTATEMENTS = 500;
const CALLERS = 6;
const REST_MS = 900;
const DAYS = ['2026-01-05', '2026-01-06', '2026-01-07'];
const REPORT = 'publisherperformance';

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

/** What the lake held, and from when to when it may have done so. */
interface LakeState {
  readonly rows: readonly EventRow[];
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

/** The lake is never changed while the engine reads: what an engine makes of that is its own. */
let turn: Promise<unknown> = Promise.resolve();
function alone<T>(act: () => Promise<T>): Promise<T> {
  const done = turn.then(act);
  turn = done.catch(() => {});
  return done;
}

/** Reads at some moment of the query's time, and takes a while before and after that. */
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
const lakeFiles = new Map<string, StagedFile>();
const states: LakeState[] = [];
let staged: StagedFile[];

const inLake = (name: string, day: string) => join(lake, 'publisher_events', `day=${day}`, name);

/** Makes files of a few records each, none of them in the lake yet. */
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

/** Changes the lake, and notes what it holds then. */
async function change(act: () => Promise<void>): Promise<void> {
  await alone(async () => {
    const from = performance.now();
    await act();
    const last = states.at(-1);
    if (last) last.until = performance.now();
    states.push({
      rows: [...lakeFiles.values()].flatMap(({ rows }) => rows),
      from,
      until: Number.POSITIVE_INFINITY,
    });
  });
}

const add = (name: string, file: StagedFile) =>
  change(async () => {
    await rename(file.path, inLake(name, file.day));
    lakeFiles.set(name, { ...file, path: inLake(name, file.day) });
  });
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
  for (const [index, file] of staged.splice(0, 6).entries()) await add(`first-${index}.parquet`, file);
  service = await startService({ publisher_events: [], advertiser_events: [] } as never, {
    openEngine: slowly(engineOver(lake)),
    eventsDirectory: lake,
    maxRunning: 8,
  });
}, 120_000);
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

/** Adds, replaces and removes files; a quarter of the restatements add a file and take it away again. */
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
        await rename(file.path, inLake(name, file.day));
        staged.push({ ...was, path: join(home, `old-${count}`) });
        lakeFiles.set(name, { ...file, path: inLake(name, file.day) });
      });
      made.replaced += 1;
    } else if (lakeFiles.size > 3) {
      await remove(pick(names()));
      made.removed += 1;
    } else continue;
    count += 1;
    // Now and then the lake rests long enough for copies to be made and given again.
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

describe('a lake that is restated while it is asked', () => {
  it('is answered as it was at one moment of the request, and copies are of their version', async () => {
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

    // Of the states that the lake was in while the request ran, one has this report.
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
    // Of all answers that name one version, one state has every report.
    const versions = Map.groupBy(
      answers.filter(({ dataVersion }) => dataVersion !== null),
      ({ dataVersion, shape }) => `${dataVersion} ${SHAPES[shape]?.start} ${SHAPES[shape]?.end}`,
    );
    for (const [version, same] of versions)
      expect(
        states.some((_, index) => same.every(({ shape, body }) => oracle(index, shape) === body)),
        version,
      ).toBe(true);

    const hits = answers.filter(({ cacheStatus }) => cacheStatus?.endsWith('hit'));
    for (const { dataVersion } of hits) expect(dataVersion).not.toBeNull();
    process.stdout.write(
      `${JSON.stringify({ ...made, states: states.length, answers: answers.length, hits: hits.length, joined: answers.filter(({ cacheStatus }) => cacheStatus?.endsWith('collapsed')).length, versions: versions.size, linksFetched: fetched })}\n`,
    );
    expect(made['added and removed again']).toBeGreaterThanOrEqual(100);
    expect(hits.length).toBeGreaterThan(0);
  });

  it('is answered from the copies once it rests', async () => {
    for (const shape of SHAPES.keys()) {
      const first = await ask(shape);
      service.stack.faults.set([{ on: 's3' }, { on: 'athena' }]);
      const again = await service.request(REPORT, queryOf(SHAPES[shape] as Question));
      const [s3, athena] = service.stack.faults.current();
      expect(again.headers.get('cache-status')).toBe('PerformanceReports; hit');
      expect(athena?.matched).toBe(0);
      expect(s3?.matched).toBeLessThanOrEqual(3);
      service.stack.faults.set([]);
      const body = await (await fetch(again.headers.get('location') ?? '')).text();
      expect(body).toBe(first.body);
      expect(body).toBe(oracle(states.length - 1, shape));
    }
  });
});
