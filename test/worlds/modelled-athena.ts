import {
  InvalidRequestException,
  type QueryExecution,
  type QueryExecutionStatus,
} from '@aws-sdk/client-athena';
import type { CompiledQuery } from '../../lib/report/compile-query.ts';
import { statusError } from '../s3/memory-client.ts';
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

type EndState = 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

/** A query as the engine runs it. Times are milliseconds since 1970. */
export interface EngineQuery {
  readonly id: string;
  readonly number: number;
  readonly token: string;
  readonly asked: ReadQuery;
  readonly companies: number;
  readonly startedBy: Invocation;
  readonly submittedAt: number;
  /** No two queries scan the same number of bytes, so the metric shows which query it counts. */
  readonly bytesScanned: number;
  state: 'QUEUED' | 'RUNNING' | EndState;
  /** When the query began to run; if Athena has put it back into its queue, when it began to run again. */
  runsSince?: number | undefined;
  endedAt?: number;
  shownAt?: number;
  reason?: string;
  isRetryable?: boolean;
  /** Why the query failed, for the rules. */
  cause?: 'engine' | 'file vanished' | 'scan limit' | 'stopped';
  location?: string;
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
  /** How often Athena has been asked about the query. */
  asks: number;
  forgottenAt?: number;
  /** The invocations that learnt that the query has ended. */
  readonly toldEndTo: { readonly by: Invocation; readonly at: number }[];
}

export interface ModelledAthena {
  readonly queries: ReadonlyMap<string, EngineQuery>;
  /** The effect of the call that starts a query. Gives the execution's id. */
  start(query: CompiledQuery, token: string, by: Invocation): string;
  /** The execution as Athena describes it; undefined if Athena does not know the id. */
  get(id: string): (QueryExecution & { readonly Status: QueryExecutionStatus }) | undefined;
  stop(id: string, by: Invocation): void;
  readonly active: () => readonly EngineQuery[];
  /** Tokens that Athena knows for a query of somebody else, in another workgroup. */
  readonly tokensOfOthers: ReadonlySet<string>;
  readonly onStart: ((query: EngineQuery) => void)[];
  /** Called when a query that has not ended is stopped. */
  readonly onStop: ((query: EngineQuery, by: Invocation) => void)[];
}

export const LARGE_BYTES = 17 * 1024 * 1024;

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

/** Models Athena's queue, states and tokens. A query reads the lake file by file. */
export function modelledAthena(world: World, lake: ModelledLake, s3: ModelledS3): ModelledAthena {
  const { time, plan, seed, troubles } = world;
  const { engine } = plan;
  const queries = new Map<string, EngineQuery>();
  const byToken = new Map<
    string,
    { readonly query: EngineQuery; readonly text: string; readonly until: number }
  >();
  const tokensOfOthers = new Set<string>();
  const queue: EngineQuery[] = [];
  const onStart: ModelledAthena['onStart'] = [];
  const onStop: ModelledAthena['onStop'] = [];
  let busy = 0;
  /** Who was refused a token. A new token belongs to nobody. */
  const refused = new WeakSet<Invocation>();

  const tell = ({ id }: EngineQuery, what: string) => world.tell?.('athena', `${id} ${what}`);
  const runNext = () => {
    while (busy < engine.slots) {
      const next = queue.shift();
      if (!next) return;
      busy += 1;
      run(next);
    }
  };
  const draws = new Map<EngineQuery, Dice>();

  function run(query: EngineQuery, isAgain = false): void {
    const draw = draws.get(query) as Dice;
    query.state = 'RUNNING';
    query.runsSince = time.now();
    tell(query, 'runs');
    const goesBack = !isAgain && draw() < 0.5 && troubles.happens('query goes back to the queue', query.id);
    if (goesBack) {
      time.silentlyAfter(between(draw, ...engine.backAfterMs), () => {
        if (query.state !== 'RUNNING') return;
        busy -= 1;
        query.state = 'QUEUED';
        query.runsSince = undefined;
        tell(query, 'goes back to the queue');
        time.silentlyAfter(between(draw, ...engine.backQueuedMs), () => {
          if (query.state !== 'QUEUED') return;
          busy += 1;
          run(query, true);
        });
        runNext();
      });
      return;
    }
    const hangs = draw() < engine.hangs && troubles.happens('query hangs', query.id);
    const runMs = hangs ? plan.settings.longestQueryMs * engine.hangLimits : between(draw, ...engine.runMs);
    const over = () => {
      if (query.state !== 'RUNNING') return;
      busy -= 1;
      end(query, draw);
      runNext();
    };
    for (const file of query.asked.days.flatMap((day) => recordsOf(lake.now(), day)))
      time.silentlyAfter(runMs * (0.05 + 0.9 * draw()), () => {
        if (query.state !== 'RUNNING') return;
        const found = lake.now().files.get(file.key);
        if (found) return void query.read.push(found);
        busy -= 1;
        query.missed = file;
        fail(query, {
          cause: 'file vanished',
          reason: 'HIVE_CURSOR_ERROR: failed to read a file of the lake',
          isRetryable: false,
        });
        runNext();
      });
    time.silentlyAfter(runMs, over);
  }

  function ended(query: EngineQuery, state: EndState): void {
    query.state = state;
    query.endedAt = time.now();
    query.shownAt = time.now() + (draws.get(query) as Dice)() * SHOWN_LATE_MS;
    const draw = draws.get(query) as Dice;
    if (draw() < engine.forgets && troubles.happens('query is forgotten', query.id))
      query.forgottenAt = time.now() + between(draw, 100, 30_000);
    world.count(`query ${state.toLowerCase()}`);
    tell(query, `${state} ${query.cause ?? ''}`);
  }

  function fail(
    query: EngineQuery,
    why: Required<Pick<EngineQuery, 'cause' | 'reason' | 'isRetryable'>>,
  ): void {
    Object.assign(query, why);
    world.count(`query fails: ${why.cause}${why.cause === 'engine' && why.isRetryable ? ', retryable' : ''}`);
    ended(query, 'FAILED');
  }

  function end(query: EngineQuery, draw: Dice): void {
    const [fails, isRetryable, junk, elsewhere] = [draw(), draw(), draw(), draw()];
    const isRaised =
      plan.settings.raisesLimit && query.submittedAt >= (world.deployedAt ?? Number.POSITIVE_INFINITY);
    if (query.asked.days.length >= plan.settings.tooManyDays && !isRaised)
      fail(query, { cause: 'scan limit', reason: 'Bytes scanned limit was exceeded', isRetryable: false });
    else if (fails < engine.fails && troubles.happens('query fails', query.id))
      fail(query, {
        cause: 'engine',
        reason: `GENERIC_INTERNAL_ERROR: ${ROW_VALUE}${' of a stage'.repeat(30)}`,
        isRetryable: isRetryable < 0.6,
      });
    if (query.cause) return;
    query.clicks = sumByDay(query.read, query.companies);
    query.isLarge = plan.settings.largeFromDays <= query.asked.days.length;
    const isElsewhere = elsewhere < engine.elsewhere && troubles.happens('result lies elsewhere', query.id);
    const key = isElsewhere ? `athena/reused/${query.id}.csv` : `athena/${query.id}.csv`;
    query.location = `s3://results/${key}`;
    query.isJunk = junk < engine.junk && troubles.happens('result is no CSV of the engine', query.id);
    const text = query.isJunk ? 'Day,Clicks\n2026-01-01,7\n' : engineCsv(query.clicks);
    const put = () => void s3.put(key, text, query.isLarge ? { bytes: LARGE_BYTES } : {});
    const late = namedDice(seed, `result of ${query.id}`);
    if (late() < engine.late && troubles.happens('result appears late', query.id)) {
      const lateMs = between(late, ...RESULT_LATE_MS);
      query.resultAt = time.now() + lateMs;
      time.silentlyAfter(lateMs, put);
    } else put();
    if (late() < engine.gone && troubles.happens('result is removed', query.id)) {
      query.isGone = true;
      time.silentlyAfter(between(late, ...GONE_MS), () => s3.objects.delete(key));
    }
    ended(query, 'SUCCEEDED');
  }

  function submit(compiled: CompiledQuery, token: string, startedBy: Invocation): EngineQuery {
    const asked = readQuery(compiled);
    const number = queries.size + 1;
    const query: EngineQuery = {
      id: `q${number}`,
      number,
      token,
      asked,
      companies: asked.companies ? maskOf(asked.companies) : EVERY_COMPANY_MASK,
      startedBy,
      submittedAt: time.now(),
      bytesScanned: number * 1_000_003,
      state: 'QUEUED',
      read: [],
      recordedBy: new Set(),
      heardOfBy: new Set(),
      asks: 0,
      stopTriedBy: new Map(),
      toldQueuedTo: new Map(),
      toldRunningTo: new Map(),
      toldOverdueTo: new Map(),
      toldEndTo: [],
    };
    const text = JSON.stringify([compiled.sql, compiled.parameters]);
    queries.set(query.id, query);
    byToken.set(token, { query, text, until: time.now() + engine.tokensKeptMs });
    const draw = namedDice(seed, `engine ${query.id}`);
    draws.set(query, draw);
    tell(query, `started for days ${asked.days.join()} companies ${asked.companies ?? 'all'}`);
    for (const act of onStart) act(query);
    time.silentlyAfter(between(draw, ...engine.queueMs), () => {
      if (query.state !== 'QUEUED') return;
      queue.push(query);
      runNext();
    });
    return query;
  }

  return {
    queries,
    tokensOfOthers,
    onStart,
    onStop,
    active: () => [...queries.values()].filter(({ state }) => state === 'QUEUED' || state === 'RUNNING'),
    start(compiled, token, startedBy) {
      const text = JSON.stringify([compiled.sql, compiled.parameters]);
      if (!/^[\w-]{32,128}$/.test(token)) throw new Error(`no token: ${token}`);
      const known = byToken.get(token);
      const isForeign =
        namedDice(seed, `token ${startedBy.id}`)() < engine.foreign && !refused.has(startedBy);
      if (!known && isForeign && troubles.happens('token is of another query', startedBy.id)) {
        refused.add(startedBy);
        tokensOfOthers.add(token);
        throw new InvalidRequestException({
          message: 'Idempotent parameters do not match',
          AthenaErrorCode: 'IDEMPOTENT_PARAMETER_MISMATCH',
          $metadata: { httpStatusCode: 400 },
        });
      }
      if (known && known.until > time.now()) {
        const isOther = known.text !== text;
        judge(world, { 'token-reused': isOther }, () => `${known.query.id}'s, used with another query`);
        if (isOther) throw statusError('InvalidRequestException', 400);
        world.count('token gives the same execution');
        return known.query.id;
      }
      return submit(compiled, token, startedBy).id;
    },
    get(id) {
      const query = queries.get(id);
      const now = time.now();
      if (!query || (query.forgottenAt !== undefined && query.forgottenAt <= now)) {
        world.count('execution forgotten');
        return undefined;
      }
      const { submittedAt, endedAt, runsSince, bytesScanned, location } = query;
      const isShown = query.shownAt !== undefined && query.shownAt <= now;
      // Until Athena shows a query's end, it shows the state before.
      const before = runsSince === undefined ? 'QUEUED' : 'RUNNING';
      return {
        QueryExecutionId: id,
        Status: {
          State: isShown
            ? query.state
            : endedAt === undefined
              ? (query.state as 'QUEUED' | 'RUNNING')
              : before,
          SubmissionDateTime: new Date(submittedAt),
          ...(isShown && {
            CompletionDateTime: new Date(endedAt as number),
            ...(query.reason !== undefined && { StateChangeReason: query.reason }),
            ...(query.cause === 'engine' && { AthenaError: { Retryable: query.isRetryable === true } }),
          }),
        },
        Statistics: {
          DataScannedInBytes: bytesScanned,
          ...(isShown && {
            EngineExecutionTimeInMillis: runsSince === undefined ? 0 : (endedAt as number) - runsSince,
          }),
        },
        ResultConfiguration: { OutputLocation: location ?? `s3://results/athena/${id}.csv` },
      };
    },
    stop(id, by) {
      const query = queries.get(id);
      if (!query || query.endedAt !== undefined || query.stopAskedAt !== undefined) return;
      query.stopAskedAt = time.now();
      query.stoppedBy = by;
      world.count('query is stopped');
      for (const act of onStop) act(query, by);
      tell(query, 'is asked to stop');
      time.silentlyAfter(STOPPED_LATE_MS * (draws.get(query) as Dice)(), () => {
        if (query.endedAt !== undefined) return;
        const isRunning = query.state === 'RUNNING';
        Object.assign(query, { cause: 'stopped', reason: 'Query cancelled', isRetryable: false });
        if (isRunning) busy -= 1;
        else queue.splice(0, queue.length, ...queue.filter((each) => each !== query));
        ended(query, 'CANCELLED');
        runNext();
      });
    },
  };
}
