import { InvalidRequestException } from '@aws-sdk/client-athena';
import type { CompiledQuery } from '../../lib/report/compile-query.ts';
import { resultKey } from '../../lib/results/keys.ts';
import { type EndState, type MemoryQuery, memoryAthena } from '../athena/memory-athena.ts';
import { judge } from './invariants/judge.ts';
import type { Invocation } from './invocation.ts';
import {
  type Clicks,
  EVERY_COMPANY_MASK,
  type LakeFile,
  type ModelledLake,
  maskOf,
  recordsOf,
  sumByDay,
} from './modelled-lake.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import { between, type Dice, namedDice } from './random.ts';
import { type ReadQuery, readQuery } from './read-query.ts';
import type { World } from './world.ts';

/** A query of a world. Times are milliseconds since 1970. */
export interface EngineQuery extends MemoryQuery {
  readonly report: ReadQuery;
  readonly companies: number;
  readonly startedBy: Invocation;
  /** The query's own random numbers. */
  readonly draw: Dice;
  /** Why the query failed, for the rules. */
  cause?: 'engine' | 'file vanished' | 'scan limit' | 'stopped';
  /** When the result appears, if it appears after the query's end. */
  resultAt?: number;
  /** The files that the query read. */
  readonly read: LakeFile[];
  /** The file that was gone when the query tried to read it. */
  missed?: LakeFile;
  clicks?: Clicks;
  /** Whether the query's result is not the engine's CSV. */
  isJunk?: boolean;
  /** Whether the result is removed, perhaps before a request reads it. */
  isGone?: boolean;
  isLarge?: boolean;
  stopAskedAt?: number;
  stoppedBy?: Invocation;
  /** When each invocation first called Athena to stop the query, with or without success. */
  readonly stopTriedBy: Map<Invocation, number>;
  /** The invocations that have received the answer to the query's start. */
  readonly heardOfBy: Set<Invocation>;
  /** When Athena last answered that the query is queued. */
  toldQueuedAt?: number;
  /** The invocation that first learnt that the query runs, since Athena last reported it as queued. */
  toldRunning?: { readonly by: Invocation; readonly at: number } | undefined;
  /** When each invocation last learnt that the query is queued, and first that it runs, or has run for too long. */
  readonly toldQueuedTo: Map<Invocation, number>;
  readonly toldRunningTo: Map<Invocation, number>;
  readonly toldOverdueTo: Map<Invocation, number>;
  /** The invocations that wrote a record of the query. */
  readonly recordedBy: Set<Invocation>;
  /** How often Athena has been asked about the query, and how often before the query's end. */
  asks: number;
  asksBeforeEnd: number;
  /** The invocations that learnt that the query has ended. */
  readonly toldEndTo: { readonly by: Invocation; readonly at: number }[];
  /** The invocations that looked for a slot, and learnt from Athena that this query no longer needs its own. */
  readonly slotFreedFor: Set<Invocation>;
}

export type ModelledAthena = ReturnType<typeof modelledAthena>;

export const LARGE_BYTES = 1024 ** 3;

/** The least and the most time from a query's end until its result appears, if it appears late. */
const RESULT_LATE_MS = [1_000, 8_000] as const;
/** A result is removed within this time after its query's end. */
const GONE_MS = [0, 10_000] as const;
/** The most time from a query's end until Athena shows the end. */
const SHOWN_LATE_MS = 150;
/** The most time from a call that stops a query until the query ends. */
const STOPPED_LATE_MS = 2_000;

/** The value of a row, in an engine's message. No line of the log may have it. */
export const ROW_VALUE = "'value-of-a-row'";

const HEADER = '"Day","Clicks"\n';

/** A result as Athena writes it. */
const engineCsv = (clicks: Clicks): string =>
  HEADER + [...clicks].map(([day, count]) => `"${day}T00:00:00Z","${count}"\n`).join('');
/** The report that the service must make of the result. */
export const reportCsv = (clicks: Clicks): string =>
  HEADER + [...clicks].map(([day, count]) => `"${day}T00:00:00Z",${count}\n`).join('');

/** Models Athena and its troubles. A query reads the lake file by file. */
export function modelledAthena(world: World, lake: ModelledLake, s3: ModelledS3) {
  const { time, plan, seed, troubles } = world;
  const { engine } = plan;
  /** Tokens that Athena knows for a query of somebody else, in another workgroup. */
  const tokensOfOthers = new Set<string>();
  /** The ids of the invocations that created attempts, by token. */
  const creators = new Map<string, string>();
  const onStart: ((query: EngineQuery) => void)[] = [];
  /** Called when a query that has not ended is stopped. */
  const onStop: ((query: EngineQuery, by: Invocation) => void)[] = [];
  /** Who was refused a token. A new token belongs to nobody. */
  const refused = new WeakSet<Invocation>();

  const tell = ({ id }: EngineQuery, what: string) => world.tell?.('athena', `${id} ${what}`);
  const athena = memoryAthena<EngineQuery>(time.now, engine, (query, isAgain) => {
    const { id, draw, report } = query;
    tell(query, 'runs');
    const goesBack = !isAgain && draw() < 0.5 && troubles.happens('query goes back to the queue', id);
    if (goesBack) {
      time.silentlyAfter(between(draw, ...engine.backAfterMs), () => {
        if (query.state !== 'RUNNING') return;
        tell(query, 'goes back to the queue');
        time.silentlyAfter(between(draw, ...engine.backQueuedMs), () => athena.runAgain(query));
        athena.putBack(query);
      });
      return;
    }
    const hangs = draw() < engine.hangs && troubles.happens('query hangs', id);
    const runMs = hangs ? plan.settings.longestQueryMs * engine.hangLimits : between(draw, ...engine.runMs);
    for (const file of report.days.flatMap((day) => recordsOf(lake.now(), day)))
      time.silentlyAfter(runMs * (0.05 + 0.9 * draw()), () => {
        if (query.state !== 'RUNNING') return;
        const found = lake.now().files.get(file.key);
        if (found) return void query.read.push(found);
        query.missed = file;
        fail(query, 'file vanished', 'HIVE_CURSOR_ERROR: failed to read a file of the lake');
      });
    time.silentlyAfter(runMs, () => {
      if (query.state === 'RUNNING') end(query);
    });
  });

  function ended(query: EngineQuery, state: EndState): void {
    const { id, draw } = query;
    const shownAfterMs = draw() * SHOWN_LATE_MS;
    if (draw() < engine.forgets && troubles.happens('query is forgotten', id))
      query.forgottenAt = time.now() + between(draw, 100, 30_000);
    world.count(`query ${state.toLowerCase()}`);
    tell(query, `${state} ${query.cause ?? ''}`);
    athena.end(query, state, shownAfterMs);
  }

  function fail(query: EngineQuery, cause: EngineQuery['cause'], reason: string, isRetryable = false): void {
    Object.assign(query, { cause, reason, ...(cause === 'engine' && { isRetryable }) });
    world.count(`query fails: ${cause}${isRetryable ? ', retryable' : ''}`);
    // Athena cuts some queries off as failed, others as cancelled. An operator may cancel a query, which nobody knows.
    const cancelled = cause === 'scan limit' ? 0.5 : cause === 'engine' ? 0.2 : 0;
    ended(query, query.draw() < cancelled ? 'CANCELLED' : 'FAILED');
  }

  function end(query: EngineQuery) {
    const { id, draw, report } = query;
    const [fails, isRetryable, junk, elsewhere] = [draw(), draw(), draw(), draw()];
    const isRaised =
      plan.settings.raisesLimit && query.submittedAt >= (world.deployedAt ?? Number.POSITIVE_INFINITY);
    if (report.days.length >= plan.settings.tooManyDays && !isRaised)
      return fail(query, 'scan limit', 'Bytes scanned limit was exceeded');
    if (fails < engine.fails && troubles.happens('query fails', id)) {
      const reason = `GENERIC_INTERNAL_ERROR: ${ROW_VALUE}${' of a stage'.repeat(30)}`;
      return fail(query, 'engine', reason, isRetryable < 0.6);
    }
    query.clicks = sumByDay(query.read, query.companies);
    query.isLarge = plan.settings.largeFromDays <= report.days.length;
    const isElsewhere = elsewhere < engine.elsewhere && troubles.happens('result lies elsewhere', id);
    const key = isElsewhere ? `athena/reused/${id}.csv` : resultKey(id);
    if (isElsewhere) query.location = `s3://results/${key}`;
    query.isJunk = junk < engine.junk && troubles.happens('result is no CSV of the engine', id);
    const text = query.isJunk ? 'Day,Clicks\n2026-01-01,7\n' : engineCsv(query.clicks);
    const put = () => void s3.put(key, text, query.isLarge ? { bytes: LARGE_BYTES } : {});
    const late = namedDice(seed, `result of ${id}`);
    if (late() < engine.late && troubles.happens('result appears late', id)) {
      const lateMs = between(late, ...RESULT_LATE_MS);
      query.resultAt = time.now() + lateMs;
      time.silentlyAfter(lateMs, put);
    } else put();
    if (late() < engine.gone && troubles.happens('result is removed', id)) {
      query.isGone = true;
      time.silentlyAfter(between(late, ...GONE_MS), () => s3.objects.delete(key));
    }
    ended(query, 'SUCCEEDED');
  }

  return {
    ...athena,
    tokensOfOthers,
    creators,
    onStart,
    onStop,
    /** The effect of the call that starts a query. Gives the execution's id. */
    start(compiled: CompiledQuery, token: string, startedBy: Invocation): string {
      const isForeign =
        namedDice(seed, `token ${startedBy.id}`)() < engine.foreign && !refused.has(startedBy);
      const isNew = [...athena.queries.values()].every((query) => query.token !== token);
      if (isNew && isForeign && troubles.happens('token is of another query', startedBy.id)) {
        refused.add(startedBy);
        tokensOfOthers.add(token);
        throw tokenOfAnother();
      }
      const earlier = athena.queryOf(token);
      if (earlier) {
        const isOther = JSON.stringify(earlier.compiled) !== JSON.stringify(compiled);
        judge(world, { 'token-reused': isOther }, () => `${earlier.id}'s, used with another query`);
        if (isOther) throw tokenOfAnother();
        world.count('token gives the same execution');
        return earlier.id;
      }
      const report = readQuery(compiled);
      const query = athena.submit(compiled, token, {
        report,
        companies: report.companies ? maskOf(report.companies) : EVERY_COMPANY_MASK,
        startedBy,
        draw: namedDice(seed, `engine q${athena.queries.size + 1}`),
        read: [],
        recordedBy: new Set(),
        heardOfBy: new Set(),
        asks: 0,
        asksBeforeEnd: 0,
        stopTriedBy: new Map(),
        toldQueuedTo: new Map(),
        toldRunningTo: new Map(),
        toldOverdueTo: new Map(),
        toldEndTo: [],
        slotFreedFor: new Set(),
      });
      tell(query, `started for days ${report.days.join()} companies ${report.companies ?? 'all'}`);
      for (const act of onStart) act(query);
      time.silentlyAfter(between(query.draw, ...engine.queueMs), () => athena.enqueue(query));
      return query.id;
    },
    get(id: string) {
      const execution = athena.get(id);
      if (!execution) world.count('execution forgotten');
      return execution;
    },
    stop(id: string, by: Invocation) {
      const query = athena.queries.get(id);
      // Athena refuses to stop a query that has ended. Its code for that is documented nowhere.
      if (query?.endedAt !== undefined) throw hasEnded();
      if (!query || query.stopAskedAt !== undefined) return;
      query.stopAskedAt = time.now();
      query.stoppedBy = by;
      world.count('query is stopped');
      for (const act of onStop) act(query, by);
      tell(query, 'is asked to stop');
      time.silentlyAfter(STOPPED_LATE_MS * query.draw(), () => {
        if (query.endedAt !== undefined) return;
        Object.assign(query, { cause: 'stopped', reason: 'Query cancelled' });
        ended(query, 'CANCELLED');
      });
    },
  };
}

/** Athena knows a token for a query with another text, or in another workgroup. */
const tokenOfAnother = () =>
  new InvalidRequestException({
    message: 'Idempotent parameters do not match',
    AthenaErrorCode: 'IDEMPOTENT_PARAMETER_MISMATCH',
    $metadata: { httpStatusCode: 400 },
  });

const hasEnded = () =>
  new InvalidRequestException({ message: 'The query has ended', $metadata: { httpStatusCode: 400 } });
