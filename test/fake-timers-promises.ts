/**
 * `node:timers/promises` over the global timer, which vitest can fake. A test file puts it in place by
 * `vi.mock('node:timers/promises', () => import('…/fake-timers-promises.ts'))`.
 */
export { delay as setTimeout };

/** Node.js waits 1 ms at the least, where the faked timer would let no time pass. */
const delay = <T>(ms = 1, value?: T): Promise<T | undefined> =>
  new Promise((resolve) => {
    globalThis.setTimeout(() => resolve(value), Math.max(1, ms));
  });
