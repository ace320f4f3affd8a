import { between, chance, type Dice, namedDice, pick, whole } from './random.ts';
import { FAULT_KINDS, type FaultKind, type Trouble } from './troubles.ts';

const DAYS = ['2026-01-29', '2026-01-30', '2026-01-31'] as const;

export interface CallerPlan {
  readonly id: string;
  readonly partner: string;
  readonly days: readonly string[];
  /** When the caller comes. In all plans, `atMs` is counted from the world's beginning. */
  readonly atMs: number;
  readonly acceptsGzip: boolean;
  /** The caller goes away this long after it comes. Undefined if it stays until it has its report. */
  readonly leavesAfterMs?: number;
  /** How long the caller waits with its link before it downloads the file. */
  readonly downloadsAfterMs: number;
}

/** A caller that asks for the states of some days. */
export interface LookerPlan extends Pick<CallerPlan, 'id' | 'partner' | 'days' | 'atMs'> {
  /** The hour of the first day at which the window begins. */
  readonly fromHour: number;
}

export const WRITER_KINDS = [
  'restates',
  'restates in place',
  'adds a file',
  'removes a day',
  'empties the table',
  'adds and removes a file',
  'writes the same again',
  'leaves working files',
  'rewrites for minutes',
] as const;
const RARE = 'takes files away for a while';
type WriterKind = (typeof WRITER_KINDS)[number] | typeof RARE;

export interface WriterPlan {
  readonly id: string;
  readonly kind: WriterKind;
  readonly day: string;
  readonly atMs: number;
  /** The pause between the writer's steps. */
  readonly stepMs: number;
}

export const OPERATOR_KINDS = ['changes companies', 'deactivates', 'removes', 'adds again'] as const;

interface OutagePlan {
  readonly id: string;
  /** The service, or its operation, that refuses calls. The names of the calls begin with this text. */
  readonly service: 'S3' | 'S3 PutObject' | 'Athena' | `Athena ${'Start' | 'Get' | 'Stop'}QueryExecution`;
  /** Whether the calls are refused because the service's role lacks the right. Otherwise they are throttled. */
  readonly isDenied?: boolean;
  /** Only calls of requests whose id begins with this text are refused. */
  readonly of?: 'abandon:' | 'publish:';
  /** Only calls for keys with this prefix are refused, because S3 throttles by prefix. */
  readonly prefix: string;
  readonly atMs: number;
  readonly lastsMs: number;
}

type SingleFault = Readonly<Record<'request' | 'operation' | 'prefix', string>> & {
  readonly kind: FaultKind;
};

export interface OperatorPlan {
  readonly id: string;
  readonly kind: (typeof OPERATOR_KINDS)[number];
  readonly partner: string;
  readonly companies: readonly number[];
  readonly atMs: number;
}

/** Everything that is decided before a world begins. */
export interface Plan {
  /** Whether half of the machines run the release before. That release does not stand all that this one stands. */
  readonly isMixed: boolean;
  readonly partners: Readonly<Record<string, readonly number[] | 'every-company'>>;
  readonly settings: {
    readonly queriesPerPartner: number;
    readonly longestQueryMs: number;
    readonly listingSeconds: number;
    /** Whether the service may list the lake. */
    readonly isListed: boolean;
    /** The most keys that S3 gives in one page of a listing. */
    readonly keysAPage: number;
    /** Whether the lake's writers mark complete days. */
    readonly marks: boolean;
    /** Windows of this many days or more exceed the scan limit. */
    readonly tooManyDays: number;
    /** Whether the last deployment raises the scan limit, so that no window exceeds it any more. */
    readonly raisesLimit: boolean;
    /** Reports of this many days or more are too large to be published while a caller waits. */
    readonly largeFromDays: number;
  };
  readonly engine: {
    readonly slots: number;
    readonly queueMs: readonly [number, number];
    readonly runMs: readonly [number, number];
    readonly fails: number;
    readonly hangs: number;
    /** How many times as long as a query may run a hanging one runs. */
    readonly hangLimits: number;
    readonly forgets: number;
    readonly junk: number;
    readonly elsewhere: number;
    /** How often a result appears seconds after its query's end. */
    readonly late: number;
    /** How often a result is removed seconds after its query's end. */
    readonly gone: number;
    /** How often Athena knows a query's token for another query. */
    readonly foreign: number;
    /** How long a query runs before Athena puts it back into its queue, and how long it then stays there. */
    readonly backAfterMs: readonly [number, number];
    readonly backQueuedMs: readonly [number, number];
    readonly tokensKeptMs: number;
  };
  /** Times in which a service refuses every call for some keys or for all keys. */
  readonly outages: readonly OutagePlan[];
  readonly faults: {
    readonly rate: number;
    readonly only: readonly FaultKind[] | undefined;
    /** A fault of one request's first call of this kind. It may be the world's only fault. */
    readonly single?: SingleFault;
  };
  readonly clocks: {
    readonly skewMs: number;
    readonly wrong: { readonly machine: string; readonly skewMs: number } | undefined;
    /** A machine whose clock is set, forward or back, when it has served requests for this long. */
    readonly set: { readonly machine: string; readonly afterMs: number; readonly byMs: number } | undefined;
  };
  readonly days: readonly string[];
  readonly filesADay: number;
  readonly callers: readonly CallerPlan[];
  readonly lookers: readonly LookerPlan[];
  readonly writers: readonly WriterPlan[];
  readonly operator: readonly OperatorPlan[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** When an actor begins. Most actors begin early, so that they meet. A few begin much later. */
function when(draw: Dice): number {
  const kind = draw();
  if (kind < 0.65) return between(draw, 0, 6 * SECOND);
  if (kind < 0.85) return between(draw, 0, 2 * MINUTE);
  if (kind < 0.95) return between(draw, 2 * MINUTE, 3 * HOUR);
  return chance(draw, 0.5) ? between(draw, 0.1 * DAY, 6 * DAY) : between(draw, 6 * DAY, 8.5 * DAY);
}

/** Pauses between a writer's steps. In the longest pause, a query can end unseen before the writer removes a file. */
const STEPS_MS = [50, 50, 1_100, 1_100, 5_000, 5_000, 40_000];

/** Usually, a query is put back after a second, for some seconds. */
const SOON_BACK = { backAfterMs: [200, 1_500], backQueuedMs: [500, 4_000] } as const;

/** The pause between two writes of the writer that rewrites a day for minutes. */
const REWRITE_MS = 800;

const DEATHS = ['dies before a call', 'dies after a call'] as const satisfies readonly FaultKind[];

const START = { operation: 'Athena StartQueryExecution', prefix: '' } as const;
const RECORD = { operation: 'S3 PutObject', prefix: 'jobs/' } as const;
/** The first request dies when it starts its query. */
const startless = (kind: FaultKind): SingleFault => ({ ...START, request: 'c0.0', kind });

const DENIABLE = ['Athena GetQueryExecution', 'Athena StartQueryExecution'] as const;
/** In some worlds, S3 throttles one prefix only. */
const PREFIXES = ['', '', 'waiting/', 'partners/', 'publisher_events/', 'jobs/'] as const;

const SKEW = 'clocks differ';
const WRONG_CLOCK = 'a clock is hours off';
const SET_CLOCK = 'a clock is set while its machine lives';

/**
 * Makes the plan of a world.
 *
 * @param without the parts to leave out: actors, clock differences, the wrong clock, or the clock that is set
 * @param hasReleaseBefore whether machines may run the release before
 */
export function planOf(
  seed: number,
  without: ReadonlySet<string> = new Set(),
  hasReleaseBefore = false,
): Plan {
  const isMixed = hasReleaseBefore && chance(namedDice(seed, 'mixed'), 0.5);
  const draw = namedDice(seed, 'plan');
  const isCalm = chance(draw, 0.15);
  const days = DAYS.slice(0, whole(draw, 1, 3));
  const partners: Record<string, readonly number[] | 'every-company'> = {
    p1: chance(draw, 0.15) ? 'every-company' : [1, 2],
    ...(chance(draw, 0.5) && { p2: [3] }),
    ...(chance(draw, 0.2) && { p3: [2, 4] }),
  };
  const names = Object.keys(partners);
  const settings: Plan['settings'] = {
    queriesPerPartner: pick(draw, [0, 0, 0, 1, 1, 2]),
    longestQueryMs: pick(draw, [30, 60, 120, 600]) * SECOND,
    listingSeconds: chance(draw, 0.12) ? 30 : 0,
    isListed: chance(draw, 0.97),
    keysAPage: pick(namedDice(seed, 'pages'), [1_000, 1_000, 1_000, 2, 4]),
    marks: chance(draw, 0.7),
    tooManyDays: chance(draw, 0.06) ? Math.max(2, days.length) : Number.POSITIVE_INFINITY,
    raisesLimit: chance(namedDice(seed, 'raised limit'), 0.5),
    largeFromDays: chance(draw, 0.12) ? whole(draw, 1, days.length) : Number.POSITIVE_INFINITY,
  };
  const engineTrouble = (share: number, rate: number) => (!isCalm && chance(draw, share) ? rate : 0);
  const engine: Plan['engine'] = {
    slots: whole(draw, 1, 4),
    // A few engines keep queries in the queue for most of the time that a query may be queued.
    queueMs: chance(draw, 0.05)
      ? [0.5 * settings.longestQueryMs, 0.9 * settings.longestQueryMs]
      : [0, pick(draw, [100, 100, 100, 3_000, 3_000, 25_000])],
    runMs: pick<readonly [number, number]>(draw, [
      [200, 2_000],
      [200, 2_000],
      [1_000, 9_000],
      [1_000, 9_000],
      [6_000, 28_000],
    ]),
    fails: engineTrouble(0.3, 0.3),
    hangs: engineTrouble(0.12, 0.3),
    hangLimits: 1.3,
    forgets: engineTrouble(0.1, 0.2),
    junk: engineTrouble(Number.isFinite(settings.largeFromDays) ? 0.3 : 0.06, 0.4),
    elsewhere: engineTrouble(0.15, 0.5),
    late: !isMixed && !isCalm && chance(namedDice(seed, 'late results'), 0.07) ? 0.5 : 0,
    gone: !isMixed && !isCalm && chance(namedDice(seed, 'removed results'), 0.04) ? 0.4 : 0,
    foreign: !isMixed && !isCalm && chance(namedDice(seed, 'tokens of others'), 0.03) ? 0.3 : 0,
    ...SOON_BACK,
    tokensKeptMs: pick(draw, [MINUTE, HOUR, 10 * DAY]),
  };
  const rate = isCalm ? 0 : pick(draw, [0, 0.005, 0.01, 0.03, 0.1]);
  const faults = { rate, only: chance(draw, 0.25) ? [pick(draw, FAULT_KINDS)] : undefined };
  const wrongMachines = ['publisherperformance-0', 'publisherperformance-1', 'downloads-0', 'publish-0'];
  // A publication that keeps failing is given up. In some worlds, S3 at first refuses to store the object that says so.
  const isGivenUp = engine.junk > 0 && Number.isFinite(settings.largeFromDays) && chance(draw, 0.4);
  // In other worlds, S3 refuses to store the second file of a large report.
  const isHalf =
    !isCalm && !isGivenUp && Number.isFinite(settings.largeFromDays) && chance(namedDice(seed, 'half'), 0.3);
  const outageCount = isGivenUp || isHalf || (!isCalm && chance(draw, 0.06)) ? 1 : 0;
  // Some worlds have one slot for many callers, and second attempts that run for a long time.
  if (chance(draw, 0.04)) {
    Object.assign(settings, { queriesPerPartner: 1, longestQueryMs: 120 * SECOND });
    Object.assign(engine, { queueMs: [0, 100], runMs: [500, 50_000], fails: 0.5, hangs: 0, slots: 4 });
    Object.assign(faults, { rate: 0 });
  }
  // In some worlds without markers, a caller leaves while a file comes and goes. The next callers come long after that.
  const isLeft = chance(draw, 0.04);
  if (isLeft) {
    Object.assign(settings, { marks: false });
    Object.assign(engine, { runMs: [6_000, 28_000] });
  }
  // In some worlds the files of a day keep changing while a patient caller queries the day, so that each query fails.
  const isRestless = !isLeft && chance(namedDice(seed, 'restless'), 0.02);
  if (isRestless) {
    Object.assign(settings, { queriesPerPartner: 0, longestQueryMs: 60 * SECOND });
    Object.assign(engine, { queueMs: [0, 100], runMs: [1_000, 3_000], fails: 0, hangs: 0 });
    Object.assign(faults, { rate: 0 });
  }
  // In some worlds, listings are kept, and files change just while the first query runs.
  const isKept = !isLeft && !isRestless && chance(namedDice(seed, 'kept listings'), 0.04);
  if (isKept) {
    Object.assign(settings, { listingSeconds: 30, marks: true, queriesPerPartner: 0 });
    Object.assign(engine, { queueMs: [0, 100], runMs: [1_000, 9_000], fails: 0, hangs: 0 });
    Object.assign(faults, { rate: 0 });
  }
  // In some worlds, a partner that waits for a report gets the companies of another partner, whose queries may fail.
  const isMoved = !isLeft && !isRestless && !isKept && chance(namedDice(seed, 'moved'), 0.04);
  if (isMoved) {
    Object.assign(partners, { p2: [3] });
    Object.assign(engine, { queueMs: [0, 100], runMs: [2_000, 28_000], fails: 0.5, hangs: 0, slots: 4 });
    Object.assign(settings, { largeFromDays: Number.POSITIVE_INFINITY });
  }
  // In some worlds, Athena puts queries back into its queue after they have run for long.
  const back = namedDice(seed, 'put back');
  if (!isMixed && !isLeft && !isRestless && !isKept && !isMoved && chance(back, 0.04)) {
    const limitMs = pick(back, [30, 60]) * SECOND;
    const share = (least: number, most: number) => [least * limitMs, most * limitMs] as const;
    Object.assign(settings, { longestQueryMs: limitMs });
    Object.assign(engine, { queueMs: [0, 3_000], runMs: share(0.2, 0.6), hangs: 0 });
    Object.assign(engine, { backAfterMs: share(0.2, 0.7), backQueuedMs: share(0.2, 0.6) });
  }
  // In some worlds, queries run for far too long, and Athena at first refuses to stop them.
  const isUnstoppable =
    !isLeft && !isRestless && !isKept && !isMoved && chance(namedDice(seed, 'unstoppable'), 0.06);
  if (isUnstoppable) {
    Object.assign(settings, { longestQueryMs: 5 * SECOND, queriesPerPartner: 0 });
    Object.assign(engine, { queueMs: [0, 100], runMs: [200, 2_000], fails: 0, hangs: 0.7, hangLimits: 8 });
    Object.assign(engine, SOON_BACK);
  }
  // In some worlds, nearly all queries fail and nothing else goes wrong. In others, functions die beside few slots. In
  // others, callers come when the first report's files go, or hours after a request that died or queries that failed.
  const isOther = isLeft || isRestless || isKept || isMoved || isUnstoppable;
  const kind = isOther ? 1 : namedDice(seed, 'more kinds')();
  const isFailing = kind < 0.04;
  const isFull = !isFailing && kind < 0.08;
  const fullKind = isFull && days.length > 1 ? namedDice(seed, 'shared rows')() : 1;
  const isShared = fullKind < 0.5;
  const isForsaken = fullKind < 0.3;
  const isOrphaned = !isShared && fullKind < 0.75;
  const isCrowded = isFull && !isShared && !isOrphaned && chance(namedDice(seed, 'crowded'), 0.6);
  const later = namedDice(seed, 'return');
  const returnsAt = between(later, 5.9, 7.5) * DAY;
  /** Below which kind, and when, all callers but the first come. */
  const returns = [
    { below: 0.1, ms: [returnsAt, returnsAt + 30 * MINUTE] },
    { below: 0.11, ms: [7 * DAY - 5 * MINUTE, 7 * DAY] },
    { below: 0.13, ms: [1.05 * HOUR, 23.5 * HOUR] },
    { below: 0.15, ms: [3 * HOUR, 60 * HOUR] },
  ] as const;
  const returning = kind < 0.08 ? -1 : returns.findIndex(({ below }) => kind < below);
  const returnsMs = returns[returning]?.ms;
  const [isLastMinute, isLost, isHopeless] = [1, 2, 3].map((each) => each === returning);
  const isStill = isFailing || isFull || returnsMs !== undefined;
  if (isStill) {
    Object.assign(engine, { queueMs: [0, 100], fails: 0, hangs: 0, slots: 4 });
    Object.assign(faults, { rate: 0 });
  }
  if (isFailing) {
    Object.assign(settings, { queriesPerPartner: pick(draw, [0, 0, 1]), longestQueryMs: 120 * SECOND });
    const isQuick = chance(draw, 0.4) && settings.queriesPerPartner === 0;
    Object.assign(engine, { fails: 0.85, runMs: isQuick ? [200, 900] : [2_000, 28_000] });
  }
  if (isHopeless) Object.assign(engine, { fails: 1, runMs: [200, 2_000] });
  if (isLost) Object.assign(faults, { single: startless(pick(later, DEATHS)) });
  if (isFull) {
    const [count, hasOneSlot] = [whole(draw, 1, 2), isShared || isOrphaned];
    Object.assign(settings, { queriesPerPartner: hasOneSlot ? 1 : count, longestQueryMs: 120 * SECOND });
    Object.assign(faults, { rate: hasOneSlot ? 0 : 0.006, only: DEATHS });
    // Two clients with the same rows share their queries, and each has slots of its own. One client's first request dies
    // with its slot, or its caller goes away and its query fails. The other client goes on with the attempt.
    if (isShared) {
      Object.assign(partners, { p1: [1, 2], p2: [1, 2] });
      Object.assign(engine, { runMs: [20_000, 50_000] });
      if (isForsaken) Object.assign(engine, { runMs: [8_000, 40_000], fails: 0.9 });
      else Object.assign(faults, { single: startless('dies before a call') });
    }
    // A client's only slot is that of a long query, whose request died. Its other callers want other reports.
    if (isOrphaned) {
      Object.assign(engine, { runMs: [40_000, 90_000] });
      Object.assign(faults, { single: startless('dies after a call') });
    }
    // Queries of different lengths meet, and a partner that waits for a slot gets other companies.
    if (isCrowded) Object.assign(engine, { runMs: [500, 50_000] });
  }
  // In some worlds, a request does not hear the answer to its first record, and no other call meets a fault by chance.
  if (!isOther && !isStill && kind < 0.19)
    Object.assign(faults, {
      rate: 0,
      single: { ...RECORD, request: pick(later, ['c0.0', 'c0.1', 'c1.0']), kind: 'answer lost' },
    });
  const isShort =
    !isUnstoppable &&
    kind >= 0.15 &&
    engine.runMs[1] <= 2_000 &&
    engine.queueMs[1] <= 100 &&
    chance(draw, 0.15);
  if (isShort) Object.assign(settings, { longestQueryMs: 5 * SECOND });
  const skewMs = pick(draw, [0, 500, 3_000]);
  const clocks: Plan['clocks'] = {
    skewMs: without.has(SKEW) ? 0 : skewMs,
    wrong: chance(draw, 0.08)
      ? {
          machine: pick(draw, wrongMachines),
          skewMs: (chance(draw, 0.5) ? 1 : -1) * between(draw, 1, 5) * HOUR,
        }
      : undefined,
    set: undefined,
  };
  if (without.has(WRONG_CLOCK)) Object.assign(clocks, { wrong: undefined });
  const setting = namedDice(seed, 'clock is set');
  if (!isMixed && !without.has(SET_CLOCK) && chance(setting, 0.08))
    Object.assign(clocks, {
      set: {
        machine: pick(setting, wrongMachines),
        afterMs: between(setting, 0, 20) * SECOND,
        byMs: Math.round((chance(setting, 0.3) ? 1 : -1) * between(setting, 0.5, 5) * HOUR),
      },
    });
  const window = (draw: Dice, id: string): readonly string[] => {
    if (isShared) return /[13579]$/.test(id) ? days.slice(0, 1) : days;
    if (isOrphaned) return id === 'c0' ? days : days.slice(0, 1);
    const first = chance(draw, 0.7) ? 0 : whole(draw, 0, days.length - 1);
    return days.slice(first, chance(draw, 0.7) ? days.length : whole(draw, first + 1, days.length));
  };
  const actors = <T extends { readonly id: string }>(
    kind: string,
    count: number,
    make: (draw: Dice, id: string) => T,
  ): T[] =>
    Array.from({ length: count }, (_, index) => `${kind}${index}`)
      .filter((id) => !without.has(`actor ${id}`))
      .map((id) => make(namedDice(seed, `actor ${id}`), id));
  const arrives = (draw: Dice, isFirst: boolean): number => {
    if (isOrphaned) return isFirst ? 0 : between(draw, 2, 60) * SECOND;
    if (isFailing || isFull) return between(draw, 0, isCrowded || isForsaken ? 20 : 60) * SECOND;
    if (returnsMs) return isFirst ? between(draw, 0, 5) * SECOND : between(draw, ...returnsMs);
    if (isRestless && isFirst) return 0;
    // Some callers come when listings are nearly too old to be kept, or just are.
    if (isKept && !isFirst && chance(draw, 0.5)) return between(draw, 20, 60) * SECOND;
    if (isMoved || isKept || isUnstoppable) return between(draw, 0, 5) * SECOND;
    if (!isLeft) return when(draw);
    return isFirst ? between(draw, 0, SECOND) : between(draw, 40, 120) * SECOND;
  };
  const writes = (draw: Dice, id: string): Pick<WriterPlan, 'kind' | 'stepMs' | 'atMs'> => {
    const often = pick(draw, WRITER_KINDS);
    const usual = chance(namedDice(seed, `away ${id}`), 0.12) ? RARE : often;
    if (isRestless) return { kind: 'rewrites for minutes', stepMs: REWRITE_MS, atMs: 100 };
    if (isLeft)
      return { kind: 'adds and removes a file', stepMs: 15 * SECOND, atMs: between(draw, 1, 4) * SECOND };
    if (isKept) return { kind: 'restates', stepMs: 100, atMs: between(draw, 1, 6) * SECOND };
    const stepMs = usual === 'rewrites for minutes' ? REWRITE_MS : pick(draw, STEPS_MS);
    return { kind: usual, stepMs, atMs: when(draw) };
  };
  const partnerOf = (draw: Dice, id: string): string => {
    if (isShared) return id === 'c0' ? 'p1' : 'p2';
    if (isMoved) return pick(draw, ['p1', 'p2']);
    return isFull || chance(draw, 0.7) ? 'p1' : pick(draw, names);
  };
  const isChanged = isMoved || isCrowded || isForsaken;
  const changesAt = (draw: Dice) => between(draw, 4, 30) * SECOND * (isForsaken ? 6 : 1);
  const writerCount = () => {
    if (isStill) return 0;
    return isLeft || isRestless || isKept ? 1 : pick(draw, [0, 0, 1, 1, 2, 3]);
  };
  const callers = actors('c', isForsaken ? 4 : pick(draw, [1, 2, 2, 3, 3, 4, 5, 6]), (draw, id) => ({
    id,
    partner: partnerOf(draw, id),
    days: isMoved || (isFailing && settings.queriesPerPartner === 0) || returnsMs ? days : window(draw, id),
    atMs: isShared && id === 'c0' ? between(draw, 0, 5) * SECOND : arrives(draw, id === 'c0'),
    acceptsGzip: chance(draw, 0.5),
    ...((chance(draw, 0.2) || (isLeft && id === 'c0')) && { leavesAfterMs: between(draw, 0, 30 * SECOND) }),
    ...((isForsaken || isOrphaned || isLost) && id === 'c0' && { leavesAfterMs: 0 }),
    ...(isHopeless && { leavesAfterMs: between(draw, 40, 100) * SECOND }),
    downloadsAfterMs: chance(draw, isLastMinute ? 0.5 : 0.1) ? between(draw, 1, 290) * SECOND : 50,
  }));
  return {
    isMixed,
    partners,
    settings,
    engine,
    faults,
    clocks,
    days,
    filesADay: whole(draw, 1, 2),
    callers,
    lookers: actors('d', pick(namedDice(seed, 'lookers'), [0, 0, 0, 1, 2]), (draw, id) => ({
      id,
      partner: pick(draw, names),
      days: days.slice(whole(draw, 0, days.length - 1)).slice(0, whole(draw, 1, days.length)),
      atMs: when(draw),
      fromHour: pick(draw, [0, 0, 6, 23]),
    })),
    outages: actors('s', isUnstoppable ? 1 : outageCount, (draw, id) => ({
      id,
      ...(isUnstoppable
        ? {
            service: 'Athena StopQueryExecution',
            prefix: '',
            atMs: 0,
            lastsMs: between(draw, 5, 30) * SECOND,
          }
        : isGivenUp
          ? {
              service: 'S3',
              of: 'abandon:',
              prefix: 'jobs/',
              atMs: 0,
              lastsMs: between(draw, 200, 400) * SECOND,
            }
          : isHalf
            ? {
                service: 'S3 PutObject',
                isDenied: true,
                of: 'publish:',
                prefix: 'reports/',
                atMs: (callers[0]?.atMs ?? 0) + between(draw, 5, 90) * SECOND,
                lastsMs: 600 * SECOND,
              }
            : {
                ...(!isMixed && chance(namedDice(seed, 'denied'), 0.2)
                  ? { service: pick(draw, DENIABLE), isDenied: true }
                  : { service: pick(draw, ['S3', 'S3', 'Athena']) }),
                prefix: pick(namedDice(seed, 'prefix'), PREFIXES),
                atMs: when(draw),
                lastsMs: between(draw, 3, 45) * SECOND,
              }),
    })),
    writers: actors('w', writerCount(), (draw, id) => {
      const { kind, stepMs, atMs } = writes(draw, id);
      const day = pick(draw, days);
      const isSoon = isMoved && chance(draw, 0.7);
      return {
        id,
        kind,
        day,
        atMs: isSoon ? between(draw, 3, 25) * SECOND : atMs,
        stepMs: stepMs * (0.5 + draw()),
      };
    }),
    operator: actors('o', isChanged ? 1 : isStill ? 0 : pick(draw, [0, 0, 0, 1, 2]), (draw, id) => ({
      id,
      ...(isChanged
        ? { kind: 'changes companies', partner: 'p1', companies: [3], atMs: changesAt(draw) }
        : {
            kind: pick(draw, OPERATOR_KINDS),
            partner: pick(draw, names),
            companies: pick(draw, [[1], [1, 2, 3], [4], [2, 3]]),
            atMs: when(draw),
          }),
    })),
  };
}

/** The parts of a plan that can be left out. */
export const partsOf = ({ callers, lookers, writers, operator, outages, clocks }: Plan): string[] => [
  ...[...callers, ...lookers, ...writers, ...operator, ...outages].map(({ id }) => `actor ${id}`),
  ...(clocks.skewMs > 0 ? [SKEW] : []),
  ...(clocks.wrong ? [WRONG_CLOCK] : []),
  ...(clocks.set ? [SET_CLOCK] : []),
];

/** The troubles that a plan has from the beginning. */
export function troublesIn({ isMixed, outages, clocks, settings }: Plan): Trouble[] {
  const all: Readonly<Partial<Record<Trouble, boolean>>> = {
    'release before': isMixed,
    outage: outages.length > 0,
    // A caller may meet it.
    'outage of S3': outages.some(({ service, of }) => service === 'S3' && of === undefined),
    'wrong clock': clocks.wrong !== undefined,
    'clock is set': clocks.set !== undefined,
    'unlisted lake': !settings.isListed,
    'kept listings': settings.listingSeconds > 0,
  };
  return (Object.keys(all) as Trouble[]).filter((each) => all[each]);
}

/**
 * The time from the world's beginning until the plan is over: all callers have come, the register has changed for the
 * last time, and all outages and writers have ended.
 */
export const lastPlannedMs = ({ callers, lookers, writers, operator, outages, filesADay }: Plan): number =>
  Math.max(
    0,
    ...[...callers, ...lookers, ...operator].map(({ atMs }) => atMs),
    ...outages.map(({ atMs, lastsMs }) => atMs + lastsMs),
    ...writers.map(({ atMs, kind, stepMs }) => atMs + mostPauses(kind, filesADay) * stepMs),
  );

/** How many times the kind `rewrites for minutes` replaces a day's files. */
export const REWRITES = 60;

/** The other kinds pause at most once for each file of the day and each added file, and for the marker. */
const mostPauses = (kind: WriterPlan['kind'], filesADay: number): number =>
  kind === 'rewrites for minutes' ? REWRITES : filesADay + 6;
