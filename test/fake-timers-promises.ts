/**
 * `node:timers/promises` over the global timer, which vitest can fake. A test file puts it in place by
 * `vi.mock('node:timers/promises', () => import('…/fake-timers-promises.ts'))`.
 */
export { delay as setTimeout };

const delay = <T>(ms?: number, value?: T): Promise<T | undefined> =>
  new Promise((resolve) => {
    globalThis.setTimeout(() => resolve(value), ms);
  });
