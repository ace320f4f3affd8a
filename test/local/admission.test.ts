import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAdmission, type Purpose, type Refusal } from '../../local/gateway/admission.ts';

/** The admission of a machine, in virtual time. The test sets the load of the machine. */
function machine() {
  const load = { utilization: 0, queued: 0 };
  const admission = createAdmission({
    utilizations: [() => 0, () => load.utilization],
    queuedQueries: () => load.queued,
    maxQueued: 4,
    now: () => Date.now(),
  });
  /** The outcomes of the requests, in the order in which they were decided. */
  const outcomes: { readonly name: string; readonly refusal: Refusal | undefined }[] = [];
  const enter = (name: string, purpose: Purpose = 'new') =>
    void admission.enter(purpose).then((refusal) => outcomes.push({ name, refusal }));
  const names = () => outcomes.map(({ name }) => name);
  return { load, outcomes, enter, names };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it('an idle machine soon admits a crowd of requests, in their order, and refuses none', async () => {
  const { enter, outcomes, names } = machine();
  const crowd = Array.from({ length: 1_000 }, (_, index) => `${index}`);
  for (const name of crowd) enter(name);
  await pass(0);
  expect(names().length).toBeLessThan(10);
  await pass(5_000);
  expect(outcomes).toEqual(crowd.map((name) => ({ name, refusal: undefined })));
});

describe('a busy machine', () => {
  it.each([
    ['admits nothing until it has room, and then the waiting room first', 'utilization', 0.9, 0.5, []],
    ['admits only the waiting room while too many queries wait for the engine', 'queued', 4, 3, ['hop']],
  ] as const)('%s', async (_, figure, busy, free, atOnce) => {
    const { load, enter, names } = machine();
    load[figure] = busy;
    enter('new');
    enter('hop', 'waiting');
    await pass(500);
    expect(names()).toEqual(atOnce);
    load[figure] = free;
    await pass(10);
    expect(names()).toEqual(['hop', 'new']);
  });

  it('refuses the last requests of a crowd if it cannot admit them in time, and admits the others', async () => {
    const { load, enter, outcomes } = machine();
    load.utilization = 0.9;
    // Ten times a second, the machine has room for about two requests.
    const use = (utilization: number) => Object.assign(load, { utilization });
    const rooms = setInterval(() => {
      use(0.5);
      setTimeout(use, 10, 0.9);
    }, 100);
    for (let index = 0; index < 400; index++) enter(`${index}`);
    await pass(10_000);
    clearInterval(rooms);
    const isIn = outcomes.filter(({ refusal }) => !refusal).map(({ name }) => Number(name));
    const isOut = outcomes.filter(({ refusal }) => refusal);
    // The admitted requests are the first ones, without a gap, and they are more than 100.
    expect(isIn).toEqual(Array.from(isIn, (_, index) => index));
    expect(isIn.length).toBeGreaterThan(100);
    expect(isIn.length + isOut.length).toBe(400);
    expect(isOut.every(({ name }) => Number(name) >= isIn.length)).toBe(true);
    for (const { refusal } of isOut) {
      expect(refusal?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(refusal?.retryAfterSeconds).toBeLessThanOrEqual(3);
    }
  });

  it('lets requests from the waiting room wait longer than new requests', async () => {
    const { load, enter, names } = machine();
    load.utilization = 1;
    enter('new');
    enter('hop', 'waiting');
    await pass(8_000);
    expect(names()).toEqual(['new']);
    await pass(13_000);
    expect(names()).toEqual(['new', 'hop']);
  });
});
