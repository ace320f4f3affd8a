/** Moments at which a release has just stored a thing, and how a request goes on from there by another release's code. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ReportFile } from '../../lib/delivery/results.ts';
import type { PartnerRecord } from '../../lib/partners/partner-record.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import { reportUrl } from '../worlds/caller.ts';
import { eventBridge } from '../worlds/event-bridge.ts';
import { gateway } from '../worlds/gateway.ts';
import { type Invocation, runners, running } from '../worlds/invocation.ts';
import { modelledAthena, reportCsv } from '../worlds/modelled-athena.ts';
import { clicksIn, maskOf, modelledLake } from '../worlds/modelled-lake.ts';
import { modelledLambda } from '../worlds/modelled-lambda.ts';
import { clientOf, modelledRegister } from '../worlds/modelled-register.ts';
import { modelledS3 } from '../worlds/modelled-s3.ts';
import type { Plan } from '../worlds/plan.ts';
import { sqlOf } from '../worlds/read-query.ts';
import { modelledService } from '../worlds/service.ts';
import type { ServiceCode } from '../worlds/service-code.ts';
import { troubles } from '../worlds/troubles.ts';
import { takeOverTime } from '../worlds/virtual-time.ts';
import { BEGINNING, type World } from '../worlds/world.ts';

const DAY = '2026-01-31';
const OTHER_DAY = '2026-01-30';
const PARTNER = 'p1';
const COMPANIES = [1, 2];

/** Whether an object is the one at which a sample is taken. */
type Moment = (key: string, document: Readonly<Record<string, unknown>>) => boolean;

interface Scene {
  readonly at: Moment;
  /** The prefixes of what is looked at. With a ticket, its holder goes on; else the partner asks for its report. */
  readonly keeps: readonly string[];
  /** What is different from a world in which all goes well. */
  readonly settings?: Partial<Plan['settings']>;
  readonly engine?: Partial<Plan['engine']>;
  /** The days whose reports are asked for before that moment, one after the other. */
  readonly asked?: readonly string[];
}

const inState =
  (prefix: string, state: string): Moment =>
  (key, document) =>
    key.startsWith(prefix) && document['state'] === state;
const waitsFor =
  (what: string): Moment =>
  (key, document) =>
    key.startsWith('waiting/') && (document['progress'] as Record<string, unknown>)['waitsFor'] === what;

/** The six stored things; those with several states have a scene for each. */
export const scenes = {
  'job record: starting': { at: inState('jobs/', 'starting'), keeps: ['jobs/'] },
  'job record: under way': { at: inState('jobs/', 'under-way'), keeps: ['jobs/'] },
  'job record: succeeded': { at: inState('jobs/', 'succeeded'), keeps: ['jobs/', 'reports/'] },
  'job record: scan limit exceeded': {
    at: inState('jobs/', 'scan-limit-exceeded'),
    keeps: ['jobs/'],
    settings: { tooManyDays: 1 },
  },
  'job record: failed': {
    at: inState('jobs/', 'failed'),
    keeps: ['jobs/', 'waiting/'],
    engine: { fails: 1 },
  },
  'cached report': { at: inState('cached/', 'succeeded'), keeps: ['cached/', 'reports/'] },
  'ticket: waits for a query': { at: waitsFor('attempt'), keeps: ['waiting/', 'jobs/'] },
  'ticket: waits for a slot': {
    at: waitsFor('slot'),
    keeps: ['waiting/', 'jobs/', 'slots/'],
    settings: { queriesPerPartner: 1 },
    asked: [OTHER_DAY, DAY],
  },
  publication: {
    at: (key) => key.startsWith('publications/'),
    keeps: ['publications/', 'jobs/', 'cached/'],
    settings: { largeFromDays: 1 },
  },
  slots: {
    at: inState('jobs/', 'under-way'),
    keeps: ['slots/', 'jobs/'],
    settings: { queriesPerPartner: 1 },
    asked: [OTHER_DAY],
  },
  'register record': { at: (key) => key.startsWith('partners/'), keeps: ['partners/'], asked: [] },
} as const satisfies Readonly<Record<string, Scene>>;

export type SceneName = keyof typeof scenes;

/** What a release's code had stored at the moment of a scene, and the queries that it had started. */
export interface Sample {
  /** All times are milliseconds after the beginning. */
  readonly atMs: number;
  readonly objects: readonly {
    readonly key: string;
    readonly atMs: number;
    readonly document?: unknown;
    /** A report's file. */
    readonly text?: string;
    readonly file?: ReportFile;
  }[];
  readonly queries: readonly { readonly atMs: number; readonly token: string; readonly sql: string }[];
}

/** What came of a request that went on from a sample. */
export interface Outcome {
  readonly status: number;
  /** As the answer says it: `hit`, or `fwd=miss; collapsed`. */
  readonly cacheStatus?: string | undefined;
  /** Whether the downloaded file is the partner's report of the lake: its companies' numbers and no others. */
  readonly isItsReport: boolean;
  /** The queries that it started, by whose token. */
  readonly started: readonly ('the token stored' | 'a new token')[];
  /** Most queries under way at one time. */
  readonly mostUnderWay: number;
}

function stage(code: ServiceCode, { settings, engine }: Scene) {
  const time = takeOverTime(BEGINNING, 1, runners);
  const plan: Plan = {
    partners: { [PARTNER]: COMPANIES },
    settings: {
      queriesPerPartner: 0,
      longestQueryMs: 60_000,
      listingSeconds: 0,
      isListed: true,
      marks: false,
      tooManyDays: Number.POSITIVE_INFINITY,
      largeFromDays: Number.POSITIVE_INFINITY,
      ...settings,
    },
    engine: {
      slots: 4,
      queueMs: [0, 0],
      // Longer than the first request waits.
      runMs: [12_000, 12_000],
      fails: 0,
      hangs: 0,
      forgets: 0,
      junk: 0,
      elsewhere: 0,
      tokensKeptMs: 3_600_000,
      ...engine,
    },
    outages: [],
    faults: { rate: 0, only: undefined },
    clocks: { skewMs: 0, wrong: undefined },
    days: [OTHER_DAY, DAY],
    filesADay: 1,
    callers: [],
    writers: [],
    operator: [],
  };
  const happens = troubles(
    new Set(),
    () => false,
    () => {},
  );
  const world: World = {
    seed: 1,
    plan,
    time,
    // Only what the plan wants goes wrong.
    troubles: { ...happens, happens: (kind, id) => kind === 'query fails' && happens.happens(kind, id) },
    count: () => {},
    tell: undefined,
    violations: [],
    violate(kind, text) {
      throw new Error(`${kind}: ${text}`);
    },
  };
  const lake = modelledLake(world);
  const s3 = modelledS3(world);
  const athena = modelledAthena(world, lake, s3);
  const register = modelledRegister(world, code);
  const lambda = modelledLambda(world);
  for (const day of plan.days) lake.put(day, 'part-0.parquet');
  register.set(PARTNER, { isActive: true, companies: COMPANIES });
  const backends = { lake, s3, athena, register };
  const ignore = () => {};
  const listeners = { onFile: ignore, onUnderWay: ignore, onMetric: ignore, onLine: ignore };
  const service = modelledService(world, { current: code, before: undefined }, backends, listeners);
  const gate = gateway(world, lambda, service);
  let requests = 0;
  return {
    world,
    ...backends,
    lambda,
    service,
    /** Asks for a URL and follows the redirects up to the last answer. */
    async follow(url: string) {
      for (let next = url; ; ) {
        const answer = await gate.get(next, { id: `r${++requests}`, partner: PARTNER, admitsGzip: false });
        const location = answer.headers['Location'];
        if (location === undefined || location.startsWith('https://results.example/')) return answer;
        next = location;
      }
    },
  };
}

/** Has a release's own code play a scene up to its moment. */
export async function play(code: ServiceCode, root: string, name: SceneName): Promise<Sample> {
  const scene: Scene = scenes[name];
  const { world, s3, athena, follow, lambda, service } = stage(code, scene);
  const since = (at: number) => at - BEGINNING;
  let sample: Sample | undefined;
  const taken = (): Sample => ({
    atMs: since(world.time.now()),
    objects: [...s3.objects]
      .filter(([key]) => scene.keeps.some((prefix) => key.startsWith(prefix)) && !key.endsWith('.gz'))
      .map(([key, { lastModified, document, text, file }]) => ({
        key,
        atMs: since(lastModified),
        ...(file ? { text, file } : { document }),
      })),
    queries: [...athena.queries.values()].map(({ submittedAt, token, asked }) => ({
      atMs: since(submittedAt),
      token,
      sql: sqlOf(asked),
    })),
  });
  s3.onCreated.push((key, { document }) => {
    if (sample || typeof document !== 'object' || document === null) return;
    if (scene.at(key, document as Record<string, unknown>)) sample = taken();
  });
  eventBridge(world, s3, lambda, service, () => {});
  const { asked = [DAY] } = scene;
  for (const [index, day] of asked.entries())
    void world.time.delay(1_000 * (index + 1)).then(() => follow(reportUrl([day])));
  if (asked.length === 0)
    s3.put(code.partnerKey(clientOf(PARTNER)), JSON.stringify(await addedPartner(root)));
  await world.time.run(() => sample !== undefined);
  if (!sample) throw new Error(`${name}: its moment never came`);
  return sample;
}

/** What `npm run partner -- add` writes into the register. */
async function addedPartner(root: string): Promise<PartnerRecord> {
  const file = pathToFileURL(join(root, 'tools/partner/add-partner.ts')).href;
  const { addPartner }: typeof import('../../tools/partner/add-partner.ts') = await import(file);
  let written: PartnerRecord | undefined;
  const register: Parameters<typeof addPartner>[0]['register'] = {
    readName: async () => undefined,
    writeName: async (_, value) => ({ value, etag: '' }),
    listNames: async () => [],
    readPartner: async () => undefined,
    writePartner: async (_, record) => {
      // The one member that is of the real clock.
      written = { ...record, since: new Date(BEGINNING).toISOString() };
    },
  };
  const outputs = {} as Parameters<typeof addPartner>[0]['outputs'];
  await addPartner(
    { stage: 'dev', outputs, register, cognito: undefined, say: () => {} },
    {
      ...byOwner(() => []),
      name: PARTNER,
      client: clientOf(PARTNER),
      publisherCompanies: COMPANIES.map(String),
      contact: 'reports@partner.example',
    },
  );
  if (!written) throw new Error('the command wrote no record');
  return written;
}

/** Has a release's code go on from a sample: the partner asks for its report, or follows its ticket. */
export async function goOn(code: ServiceCode, name: SceneName, sample: Sample): Promise<Outcome> {
  const scene: Scene = scenes[name];
  const { world, lake, s3, athena, register, follow, lambda, service } = stage(code, scene);
  const { time } = world;
  const until = (atMs: number) => time.delay(BEGINNING + atMs - time.now());
  eventBridge(world, s3, lambda, service, () => {});
  const record = sample.objects.find(({ key }) => key.startsWith('partners/'));
  if (record) register.textAt = (key) => (key === record.key ? JSON.stringify(record.document) : undefined);
  let mostUnderWay = 0;
  athena.onStart.push(() => {
    mostUnderWay = Math.max(mostUnderWay, athena.active().length);
  });
  /** What the release before did, each thing at its time. */
  const write = async () => {
    const steps = [
      ...sample.objects.map(({ key, atMs, document, text, file }) => ({
        atMs,
        act: () => void s3.put(key, text ?? JSON.stringify(document), file && { file }),
      })),
      ...sample.queries.map(({ atMs, token, sql }) => ({
        atMs,
        act: () => void athena.start({ sql, parameters: [] }, token, running.getStore() as Invocation),
      })),
    ].sort((one, other) => one.atMs - other.atMs);
    for (const { atMs, act } of steps) {
      await until(atMs);
      act();
    }
  };
  const resume = async (): Promise<Outcome> => {
    await until(sample.atMs);
    const ticket = sample.objects
      .toSorted((one, other) => one.atMs - other.atMs)
      .findLast(({ key }) => key.startsWith('waiting/'));
    const url = ticket
      ? `/reporting/downloads/${ticket.key.slice('waiting/'.length, -'.json'.length)}/1`
      : reportUrl([DAY]);
    const { status, headers } = await follow(url);
    const location = headers['Location'];
    const clicks = clicksIn(lake.now(), [DAY], maskOf(COMPANIES));
    return {
      status,
      cacheStatus: headers['Cache-Status']?.split('; ').slice(1).join('; '),
      isItsReport:
        location !== undefined && s3.get(new URL(location).pathname.slice(1))?.text === reportCsv(clicks),
      started: [...athena.queries.values()]
        .slice(sample.queries.length)
        .map(({ token }) =>
          JSON.stringify(sample.objects).includes(token) ? 'the token stored' : 'a new token',
        ),
      mostUnderWay,
    };
  };
  let isOver = false;
  const outcome = Promise.all([
    resume(),
    lambda.invoke('the release before', 'before', { limitMs: 900_000, partner: PARTNER }, write),
  ]).finally(() => {
    isOver = true;
  });
  await time.run(() => isOver);
  const [resumed, { outcome: written }] = await outcome;
  if (written.state !== 'answered') throw new Error(`${name}: its sample can't be written again`);
  return resumed;
}
