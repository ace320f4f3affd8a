/**
 * `node:timers/promises` over the global timer, which vitest can fake. A test file uses this module by
 * `vi.mock('node:timers/promises', () => import('…/fake-timers-promises.ts'))`.
 */
export { delay as setTimeout };

/** A pause of at least 1 ms, as in Node.js: for 0 ms, the faked timer would let no time pass. */
const delay = <T>(ms = 1, value?: T): Promise<T | undefined> =>
  new Promise((resolve) => {
    globalThis.setTimeout(() => resolve(value), Math.max(1, ms));
  });
