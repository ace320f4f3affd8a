/** Rule: the metrics count each ended execution at most once, and exactly once if a request saw its end. */
import { METRIC } from '../../../lib/names.ts';
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';

/** Times may differ by this much: Athena gives some in whole seconds, and a stopped query ends a little later. */
const COARSE_MS = 5_000;

const hasReport = ({ state, isJunk, resultAt, forgottenAt, stopTriedBy }: EngineQuery): boolean =>
  state === 'SUCCEEDED' && !isJunk && stopTriedBy.size === 0 && !resultAt && !forgottenAt;

/** Checks the metrics of a world. `finish` must be called at the end of the world. */
export function countingRule({ world, athena }: Parts) {
  const counted = new Set<EngineQuery>();
  const bytesBy = new Map<Invocation, number>();
  /** The query that was counted last. */
  let last: EngineQuery | undefined;
  // A query that is stopped counts up to the last answer of Athena before that.
  const isDuration = (ms: number) =>
    [...athena.queries.values()].some(({ submittedAt, endedAt = world.time.now(), stopTriedBy }) => {
      const lateMs = endedAt - submittedAt - ms;
      return lateMs > -COARSE_MS && (stopTriedBy.size === 0 ? lateMs < COARSE_MS : ms > 1_000);
    });
  return {
    onMetric(name: string, value: number, by: Invocation): void {
      if (name === METRIC.queryDuration && !isDuration(value)) world.violate('other-duration', `${value} ms`);
      if (name === METRIC.failedQueries && last && hasReport(last))
        world.violate('counted-as-failed', last.id);
      if (name !== METRIC.bytesScanned) return;
      bytesBy.set(by, (bytesBy.get(by) ?? 0) + value);
      const query = [...athena.queries.values()].find(({ bytesScanned }) => bytesScanned === value);
      last = query;
      world.tell?.(by.id, `counts ${query?.id}`);
      if (!query) world.violate('counts-nothing', `${by.id} counts ${value} bytes, which no query has read`);
      else if (counted.has(query)) world.violate('counted-twice', `${by.id} counts ${query.id} once more`);
      // The request that stops a query counts it. Athena ends the query a moment later.
      else if (query.endedAt === undefined && query.stopAskedAt === undefined)
        world.violate('counted-before-its-end', query.id);
      if (query) counted.add(query);
    },
    finish(): void {
      for (const [{ id, line }, bytes] of bytesBy)
        if (line?.['endedBytes'] !== bytes)
          world.violate('log-and-metrics-differ', `${id} logs ${line?.['endedBytes']}, and counts ${bytes}`);
      for (const query of athena.queries.values())
        if (query.endedAt !== undefined && !counted.has(query)) judgeUncounted(world, query);
    },
  };
}

/** Whether failed calls used up the time in which a request would have recorded the end of a query. */
const ranOutOfTime = (by: Invocation | undefined): boolean =>
  by !== undefined && by.faults.length > 0 && (by.line?.['status'] === 503 || by.line?.['isReady'] === false);

/**
 * Whether a request never learnt if its last write of a record took effect. The answer to the write was lost, and the
 * read that would have shown the write failed too. Later, other requests replaced the record. The records of release
 * 1.0.0 don't show it at all.
 */
function neverLearnt(by: Invocation | undefined, isMixed: boolean): boolean {
  const faults = by?.faults.filter(({ key }) => key.startsWith('jobs/')) ?? [];
  const isHit = (operation: string) => faults.some((fault) => fault.operation === operation);
  return isHit('S3 PutObject') && (isMixed || isHit('S3 GetObject'));
}

function judgeUncounted(
  world: Parts['world'],
  {
    id,
    startedBy,
    toldEndTo,
    stopAskedAt,
    stoppedBy,
    stopTriedBy,
    recordedBy,
    isJunk,
    isGone,
    cause,
    resultAt = 0,
  }: EngineQuery,
): void {
  const all = [startedBy, ...stopTriedBy.keys(), ...recordedBy, ...toldEndTo.map(({ by }) => by)];
  if (all.some(({ isDead }) => isDead)) world.count('apart: not counted, a function died');
  else if ([stoppedBy, ...toldEndTo.map(({ by }) => by)].some(ranOutOfTime))
    world.count('apart: not counted, the request that saw the end ran out of time');
  else if ([stoppedBy, ...toldEndTo.map(({ by }) => by)].some((by) => neverLearnt(by, world.plan.isMixed)))
    world.count('apart: not counted, its record was replaced before its write was known');
  else if (stopAskedAt !== undefined && toldEndTo.length === 0 && [...recordedBy].at(-1) !== stoppedBy)
    world.count('apart: not counted, another request took the stopped query over and left');
  else if (stopAskedAt !== undefined) world.violate('stopped-not-counted', id);
  else if (toldEndTo.length > 0 && toldEndTo.every(({ at }) => at < resultAt))
    world.count('apart: not counted, its result had not appeared when its end was seen');
  else if (
    isGone &&
    toldEndTo.every(({ by: { line } }) => line?.['isReady'] === false || line?.['status'] === 503)
  )
    world.count('apart: not counted, its result was removed while requests looked for it');
  else if (world.plan.isMixed && toldEndTo.some(({ by }) => by.machine.isOfReleaseBefore))
    world.count('apart: not counted, release 1.0.0 saw the end');
  else if (toldEndTo.length === 0) world.count('apart: not counted, nobody came back');
  else
    world.violate(
      `not-counted: ${isJunk ? 'junk' : (cause ?? 'succeeded')}`,
      `${id}, though ${[...new Set(toldEndTo.map(({ by }) => by.id))].join(', ')} saw its end`,
    );
}
