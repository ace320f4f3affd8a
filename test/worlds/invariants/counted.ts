/** Rule: the metrics count each ended execution at most once, and exactly once if a request saw its end. */
import { METRIC } from '../../../lib/names.ts';
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';
import { judge } from './judge.ts';

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
      const text = () => `${by.id} gives ${name} ${value}, after ${last?.id}`;
      if (name === METRIC.queryDuration) judge(world, { 'other-duration': !isDuration(value) }, text);
      if (name === METRIC.failedQueries && last) judge(world, { 'counted-as-failed': hasReport(last) }, text);
      if (name !== METRIC.bytesScanned) return;
      bytesBy.set(by, (bytesBy.get(by) ?? 0) + value);
      const query = [...athena.queries.values()].find(({ bytesScanned }) => bytesScanned === value);
      last = query;
      world.tell?.(by.id, `counts ${query?.id}`);
      const findings = {
        'counts-nothing': !query,
        'counted-twice': query && counted.has(query),
        // The request that stops a query counts it. Athena ends the query a moment later.
        'counted-before-its-end': query && query.endedAt === undefined && query.stopAskedAt === undefined,
      };
      judge(world, findings, text);
      if (query) counted.add(query);
    },
    finish(): void {
      for (const [{ id, line }, bytes] of bytesBy) {
        const findings = { 'log-and-metrics-differ': line?.['endedBytes'] !== bytes };
        judge(world, findings, () => `${id} logs ${line?.['endedBytes']}, and counts ${bytes}`);
      }
      for (const query of athena.queries.values())
        if (query.endedAt !== undefined && mustBeCounted(query))
          judge(world, { 'not-counted': !counted.has(query) }, () => `${query.id}, ${query.cause}`);
    },
  };
}

/** Whether failed calls used up the time in which a request would have recorded the end of a query. */
const ranOutOfTime = ({ faults, line }: Invocation): boolean =>
  faults.length > 0 && (line?.['status'] === 503 || line?.['isReady'] === false);

/**
 * Whether a request never learnt if its last write of a record took effect. The answer to the write was lost, and the
 * read that would have shown the write failed too. Later, other requests replaced the record.
 */
const neverLearnt = ({ faults }: Invocation): boolean =>
  ['S3 PutObject', 'S3 GetObject'].every((each) =>
    faults.some(({ key, operation }) => key.startsWith('jobs/') && operation === each),
  );

/** Whether no request that saw a query's end found its result, without which the end is not recorded. */
const isWithoutResult = ({ toldEndTo, resultAt = 0, isGone }: EngineQuery): boolean =>
  toldEndTo.every(({ at }) => at < resultAt) ||
  (isGone === true &&
    toldEndTo.every(({ by: { line } }) => line?.['isReady'] === false || line?.['status'] === 503));

/**
 * Whether a request saw a query's end, or stopped it, and no request that had to do with the query died or lost its
 * time. If another request took a stopped query over and left, nobody came back for it. Release 1.0.0 does not
 * count a query if its lease ends meanwhile.
 */
function mustBeCounted(query: EngineQuery): boolean {
  const { startedBy, toldEndTo, stopAskedAt, stoppedBy, stopTriedBy, recordedBy } = query;
  const saw = [...(stoppedBy ? [stoppedBy] : []), ...toldEndTo.map(({ by }) => by)];
  const isSeen = toldEndTo.length > 0 || (stopAskedAt !== undefined && [...recordedBy].at(-1) === stoppedBy);
  return (
    isSeen &&
    (stopAskedAt !== undefined || !isWithoutResult(query)) &&
    [startedBy, ...stopTriedBy.keys(), ...recordedBy, ...saw].every(({ isDead }) => !isDead) &&
    !saw.some((by) => by.machine.isOfReleaseBefore || ranOutOfTime(by) || neverLearnt(by))
  );
}
