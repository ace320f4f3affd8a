import { tokenBucket } from '../../local/token-bucket.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { Quotas } from './quotas.ts';

/** How long a new execution environment takes to start. Assumed. */
const COLD_MS = 700;
/** How long a request takes to reach the handler in a warm environment. Assumed. */
const WARM_MS = 6;

export interface ModelledLambda {
  /** Resolves to undefined if Lambda throttles: no execution is free, or no new environment may start yet. */
  invoke<T>(functionName: string, memoryMb: number, handle: () => Promise<T>): Promise<T | undefined>;
  readonly figures: {
    invocations: number;
    coldStarts: number;
    throttled: number;
    /** The most executions at one time. */
    most: number;
    /** Gigabytes of memory times seconds. */
    gigabyteSeconds: number;
  };
}

/** Models Lambda's concurrency, its rate of new environments and its cold starts. */
export function modelledLambda(
  time: VirtualTime,
  {
    concurrentExecutions,
    reserved,
    newEnvironments,
  }: Pick<Quotas, 'concurrentExecutions' | 'reserved' | 'newEnvironments'>,
): ModelledLambda {
  const unreserved = Object.values(reserved).reduce((left, each) => left - each, concurrentExecutions);
  const idle = new Map<string, number>();
  const makes = new Map<string, () => boolean>();
  const figures = { invocations: 0, coldStarts: 0, throttled: 0, most: 0, gigabyteSeconds: 0 };
  /** How many executions run now, for each function that has reserved ones. All others count under an empty name. */
  const running = new Map<string, number>();
  const all = () => [...running.values()].reduce((sum, each) => sum + each, 0);
  return {
    figures,
    async invoke(name, memoryMb, handle) {
      const spare = idle.get(name) ?? 0;
      const mayMake = makes.get(name) ?? tokenBucket(newEnvironments, time.now);
      makes.set(name, mayMake);
      const pool = name in reserved ? name : '';
      const [used, most] = [running.get(pool) ?? 0, reserved[name] ?? unreserved];
      if (used >= most || (spare === 0 && !mayMake())) {
        figures.throttled += 1;
        return undefined;
      }
      if (spare > 0) idle.set(name, spare - 1);
      else figures.coldStarts += 1;
      running.set(pool, used + 1);
      figures.invocations += 1;
      figures.most = Math.max(figures.most, all());
      const from = time.now();
      try {
        await time.delay(spare > 0 ? WARM_MS : COLD_MS);
        return await handle();
      } finally {
        running.set(pool, (running.get(pool) ?? 1) - 1);
        idle.set(name, (idle.get(name) ?? 0) + 1);
        figures.gigabyteSeconds += ((time.now() - from) / 1_000) * (memoryMb / 1_024);
      }
    },
  };
}
