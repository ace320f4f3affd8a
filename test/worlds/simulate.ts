import { type CallerListeners, type Ending, pull } from './caller.ts';
import { eventBridge } from './event-bridge.ts';
import { gateway } from './gateway.ts';
import { checkAnswer } from './invariants/answers.ts';
import { attemptsRule } from './invariants/attempts.ts';
import { countingRule } from './invariants/counted.ts';
import { checkDays, daysUrl } from './invariants/days.ts';
import { checkDownload } from './invariants/downloads.ts';
import { checkFile, checkPublication, firstFileRule } from './invariants/files.ts';
import { judge } from './invariants/judge.ts';
import { checkLine } from './invariants/log-lines.ts';
import { queriedOnceRule, retriedOnceRule, startedInTimeRule } from './invariants/queried-once.ts';
import { slotsRule } from './invariants/slots.ts';
import { noteUnderWay, stoppedRule } from './invariants/stopped.ts';
import { runners, running } from './invocation.ts';
import { modelledAthena } from './modelled-athena.ts';
import { modelledLake } from './modelled-lake.ts';
import { modelledLambda } from './modelled-lambda.ts';
import { modelledRegister } from './modelled-register.ts';
import { modelledS3 } from './modelled-s3.ts';
import { operate } from './operator.ts';
import type { Parts, Pull } from './parts.ts';
import { type CallerPlan, type LookerPlan, lastPlannedMs, partsOf, planOf, troublesIn } from './plan.ts';
import type { Listeners } from './service.ts';
import { modelledService } from './service.ts';
import type { Releases } from './service-code.ts';
import { troubles } from './troubles.ts';
import { takeOverTime } from './virtual-time.ts';
import { BEGINNING, type Violation, type World } from './world.ts';
import { write } from './writer.ts';

export interface Simulated {
  readonly violations: readonly Violation[];
  /** The parts of the plan and the troubles. Each of them can be left out of another run. */
  readonly happened: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly history: readonly string[];
}

/** The time from the last planned event to the end of all faults. Until then, callers under way may suffer faults. */
const QUIET_AFTER_MS = 60_000;

/** The time that a patient client may lose to a `Retry-After`, to the lease of a dead function, or to a restart. */
const PATIENCE_MS = 150_000;

/** The longest time of a publication. A publishing function that hangs is ended after 15 minutes and runs again. */
const LONGEST_PUBLICATION_MS = 1_200_000;
/** One that dies, and whose end nobody can record, is given up after this time. */
const LOST_PUBLICATION_MS = 50 * 60_000;

/** The longest of 4,000 worlds needed 60,000 timers. A world that needs far more goes round in circles. */
const MOST_TIMERS = 1_000_000;

const LAST_CALLERS = 'patient callers at the end';

/** Runs one world to its end. The same seed gives the same world. */
export async function simulate(
  releases: Releases,
  seed: number,
  { without = new Set<string>(), isTold = false }: { without?: ReadonlySet<string>; isTold?: boolean } = {},
): Promise<Simulated> {
  const time = takeOverTime(BEGINNING, seed, runners);
  const plan = planOf(seed, without, releases.before !== undefined);
  const counts = new Map<string, number>();
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const history: string[] = [];
  const violations: Violation[] = [];
  const quietAt = BEGINNING + lastPlannedMs(plan) + QUIET_AFTER_MS;
  const tell = (who: string, what: string) => void history.push(`${clock(time.now())} ${who}: ${what}`);
  const world: World = {
    seed,
    plan,
    time,
    troubles: troubles(troublesIn(plan), without, () => time.now() >= quietAt, count),
    count,
    tell: isTold ? tell : undefined,
    violations,
    violate(kind, text) {
      violations.push({ kind, text });
      if (isTold) tell('VIOLATION', `${kind}: ${text}`);
    },
  };
  if (!plan.settings.isListed) count('the lake is not listed');
  const lake = modelledLake(world);
  const s3 = modelledS3(world);
  const athena = modelledAthena(world, lake, s3);
  const register = modelledRegister(world, releases.current);
  const lambda = modelledLambda(world);
  const pulls: Pull[] = [];
  const parts: Parts = { world, lake, s3, athena, register, pulls };
  const counting = countingRule(parts);
  const onStart = [slotsRule, queriedOnceRule, retriedOnceRule, startedInTimeRule];
  athena.onStart.push(...onStart.map((rule) => rule(parts)));
  athena.onStop.push(stoppedRule(parts));
  attemptsRule(parts);
  firstFileRule(parts);
  s3.onCreated.push((key, stored) => {
    const by = running.getStore();
    by?.written.set(key, stored);
    if (by && key.startsWith('jobs/')) by.recordedAt ??= world.time.now();
    const { executionId = '' } = (stored.document ?? {}) as { readonly executionId?: string };
    if (by && key.startsWith('jobs/')) athena.queries.get(executionId)?.recordedBy.add(by);
  });
  const listeners: Listeners = {
    onFile: (file) => checkFile(parts, file),
    onUnderWay: (query, by, isQueued) => noteUnderWay(parts, query, by, isQueued),
    onMetric: counting.onMetric,
    onLine: (message, facts, by) => {
      checkLine(parts, message, facts);
      if (message === 'request') by.line = facts;
    },
  };
  const service = modelledService(world, releases, parts, listeners);
  eventBridge(world, s3, lambda, service, (id, error) => checkPublication(parts, id, error));
  const gate = gateway(world, lambda, service);
  const callerListeners: CallerListeners = {
    onPull: (pull) => void pulls.push(pull),
    onAnswer: (request) => checkAnswer(parts, request),
    onDownload: (download) => checkDownload(parts, download),
  };

  for (const day of plan.days) {
    for (let file = 0; file < plan.filesADay; file++) lake.put(day, `part-${file}.parquet`);
    if (plan.settings.marks) lake.mark(day);
  }
  for (const [partner, companies] of Object.entries(plan.partners))
    register.set(partner, { isActive: true, companies });

  const calls = (caller: CallerPlan, untilMs?: number): Promise<Ending> =>
    pull(world, { gateway: gate, s3 }, caller, callerListeners, untilMs);
  const look = async (looker: LookerPlan): Promise<void> => {
    await time.delay(looker.atMs);
    const startedAt = time.now();
    const { id, partner } = looker;
    checkDays(parts, looker, startedAt, await gate.get(daysUrl(looker), { id, partner, acceptsGzip: false }));
  };
  const all = Promise.all([
    ...plan.lookers.map(look),
    ...plan.callers.map(async (caller) => count(`caller ${await calls(caller)}`)),
    ...plan.writers.map((writer) => write(world, lake, writer)),
    ...plan.operator.map((step) => operate(world, register, step)),
    !without.has(LAST_CALLERS) &&
      time.delay(quietAt - time.now()).then(() => {
        lambda.deploy();
        return everyReportIsReached(parts, calls);
      }),
  ]);
  let outcome: PromiseSettledResult<unknown> | undefined;
  Promise.allSettled([all]).then(([settled]) => {
    outcome = settled;
  });
  const hasEnded = () => outcome?.status === 'rejected' || (outcome && lambda.underWay() === 0) === true;
  await time.run(hasEnded, MOST_TIMERS);
  if (outcome?.status === 'rejected') throw outcome.reason;
  judge(world, { 'never-ends': !outcome }, () => 'somebody waits for ever');
  counting.finish();
  return {
    violations,
    happened: [LAST_CALLERS, ...partsOf(plan), ...world.troubles.happened].filter(
      (each) => !without.has(each),
    ),
    counts,
    history,
  };
}

/**
 * Checks that every report reaches a patient client. All faults have ended, all writers have finished, and the service is
 * deployed once more.
 */
async function everyReportIsReached(
  { world, athena }: Parts,
  calls: (caller: CallerPlan, untilMs: number) => Promise<Ending>,
): Promise<void> {
  const { time, plan } = world;
  const wanted = new Map(plan.callers.map((caller) => [`${caller.partner} ${caller.days.join()}`, caller]));
  const { queueMs, runMs } = plan.engine;
  const { queriesPerPartner, longestQueryMs, largeFromDays } = plan.settings;
  const slots = Math.min(plan.engine.slots, queriesPerPartner || Number.POSITIVE_INFINITY);
  const hangs = plan.engine.hangs > 0 ? longestQueryMs * plan.engine.hangLimits : 0;
  // If the lake can't be listed, no two callers share a query, and a query goes on for a caller that has given up. Two
  // releases share none either.
  const ahead = (athena.active().length + wanted.size) * (plan.settings.isListed && !plan.isMixed ? 1 : 2);
  const isLost = world.troubles.happened.some((each) => each.includes(' abandon:'));
  const publishedMs = isLost ? LOST_PUBLICATION_MS : LONGEST_PUBLICATION_MS;
  const boundMs =
    (ahead / slots + 2) * (queueMs[1] + Math.max(runMs[1], 0)) +
    hangs +
    PATIENCE_MS +
    // Each caller whose time is up may leave its slot taken for as long as a query may be queued and run.
    (queriesPerPartner > 0 ? 2 * longestQueryMs * (wanted.size + 1) : 0) +
    (Number.isFinite(largeFromDays) ? publishedMs : 0);
  await Promise.all(
    [...wanted.values()].map(async (caller, index) => {
      const began = time.now();
      const { leavesAfterMs: _, ...patient } = caller;
      const ending = await calls(
        { ...patient, id: `last${index}`, atMs: 0, downloadsAfterMs: 50 },
        boundMs * 3,
      );
      const tookMs = time.now() - began;
      world.count(`last caller ${ending}`);
      const findings = { 'report-not-reached': ending === 'gave up' || tookMs > boundMs };
      judge(world, findings, () => `last${index} ${ending} after ${tookMs} ms; ${boundMs} were enough`);
    }),
  );
}

/** The time since the world's beginning, for the history. */
function clock(now: number): string {
  const ms = now - BEGINNING;
  const day = Math.floor(ms / 86_400_000);
  const text = new Date(ms).toISOString().slice(11, 23);
  return day > 0 ? `${day}d ${text}` : text;
}
