/** Each ended execution is counted once: never twice, and never not at all if somebody saw its end. */
import { METRIC } from '../../../lib/metric-names.ts';
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from './parts.ts';

export function countingRule({ world, athena }: Parts) {
  const counted = new Map<string, number>();
  const byBytes = (bytes: number): EngineQuery | undefined =>
    [...athena.queries.values()].find((query) => query.bytesScanned === bytes);
  return {
    onMetric(name: string, value: number, by: Invocation): void {
      if (name !== METRIC.bytesScanned) return;
      const query = byBytes(value);
      if (!query) return world.violate('counts-nothing', `${by.id} counts ${value} bytes, which no query has read`);
      const times = (counted.get(query.id) ?? 0) + 1;
      counted.set(query.id, times);
      world.tell?.(by.id, `counts ${query.id}`);
      if (times > 1) world.violate('counted-twice', `${by.id} counts ${query.id} once more`);
      // A stopped query is counted by whoever stops it: Athena ends it a moment later.
      if (query.endedAt === undefined && query.stopAskedAt === undefined) world.violate('counted-before-its-end', query.id);
    },
    /** At the world's end. */
    finish(): void {
      for (const query of athena.queries.values()) {
        if (query.endedAt === undefined || counted.has(query.id)) continue;
        const { startedBy, toldEndTo, stopAskedAt, stoppedBy } = query;
        if (startedBy.isDead || stoppedBy?.isDead || toldEndTo.some(({ isDead }) => isDead)) world.count('apart: not counted, a function died');
        else if (toldEndTo.some(({ line }) => line?.['status'] === 503))
          world.count('apart: not counted, the request that saw the end ran out of time');
        else if (stopAskedAt !== undefined) world.violate('stopped-not-counted', query.id);
        else if (toldEndTo.length === 0) world.count('apart: not counted, nobody came back');
        else
          world.violate(
            `not-counted: ${query.isJunk ? 'junk' : (query.cause ?? 'succeeded')}`,
            `${query.id}, though ${toldEndTo.map(({ id }) => id)} saw its end`,
          );
      }
    },
  };
}
