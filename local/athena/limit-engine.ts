import type { QueryEngine } from './query-engine.ts';

/** Wraps an engine so that at most `maxRunning` queries run on it at a time. Further queries wait. */
export function limitEngine<E extends QueryEngine>(engine: E): E {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    ...engine,
    async run(query) {
      while (running >= engine.maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
      running += 1;
      try {
        query.signal.throwIfAborted();
        return await engine.run(query);
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
  };
}
