import { beforeEach, vi } from 'vitest';
import { deliverReport } from '../../../lib/delivery/deliver-report.ts';
import type { Delivery, DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { readDataState } from '../../../lib/lake/data-version.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import { type Setting, START, termsNow, wanted } from './setting.ts';

/** More steps of the clock than any test needs. */
const MAX_STEPS = 20_000;
const LONGEST_MS = 3_000_000;

/** Runs the fake clock from timer to timer until a promise settles. Throws if the promise never does. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  let isDone = false;
  const mark = () => {
    isDone = true;
  };
  promise.then(mark, mark);
  const from = Date.now();
  for (let steps = 0; ; steps++) {
    // Work that waits for no timer runs before the clock moves.
    await vi.advanceTimersByTimeAsync(0);
    if (isDone) return promise;
    if (steps > MAX_STEPS || Date.now() > from + LONGEST_MS) throw new Error('it does not end');
    await vi.advanceTimersToNextTimerAsync();
  }
}

/** For each test of a file, the fake clock begins at START, and `Math.random` gives the same numbers in every run. */
export function useFakeTime(): void {
  beforeEach(() => {
    let throws = 0;
    vi.useFakeTimers({ now: START });
    const dice = vi.spyOn(Math, 'random').mockImplementation(() => (++throws * 0.618_034) % 1);
    return () => {
      dice.mockRestore();
      vi.useRealTimers();
    };
  });
}

/** The outcome of one request: its answer or its error, and how long it took. */
interface Answer {
  readonly delivery?: Delivery;
  readonly error?: unknown;
  readonly ms: number;
  /** The cache status. If the report is not ready, `waiting, ` stands before it. */
  readonly status?: string;
  /** The progress that the request hands to its caller's next request. */
  readonly left?: Progress;
  /** Key, content and data version of a report that is ready. */
  readonly key?: string;
  readonly text?: string | undefined;
  readonly version?: string | undefined;
}

type Terms = Partial<DeliveryTerms>;

/** Sends a request now. The request lists the lake as the handlers do, unless it goes on with an attempt. */
export async function request(of: Setting, more: Terms = {}, left?: Progress): Promise<Answer> {
  const from = Date.now();
  const terms = termsNow(more);
  const listed = () => readDataState(of.lake, wanted.request, terms.listingMs);
  try {
    const data = left?.waitsFor === 'attempt' ? left.data : await listed();
    const delivery = await deliverReport({ ...of, wanted, terms }, data, left);
    const status = `${delivery.state === 'waiting' ? 'waiting, ' : ''}${delivery.cacheStatus}`;
    const every = { delivery, status, ms: Date.now() - from };
    if (delivery.state === 'waiting') return { ...every, left: delivery.progress };
    const { key, dataVersion: version } = delivery;
    return { ...every, key, version, text: of.results.objects.get(key)?.text };
  } catch (error) {
    return { error, ms: Date.now() - from };
  }
}

export const ask = (...given: Parameters<typeof request>) => settled(request(...given));

/** Sends a request, and follows the waiting URLs as a client does. */
export async function following(of: Setting, terms: Terms = {}): Promise<Answer & { hops: number }> {
  const { askedAt, giveUpAt, publishUntil } = termsNow(terms);
  let answer = await request(of, terms);
  let hops = 0;
  for (; answer.left; hops++)
    answer = await request(of, { ...terms, askedAt, giveUpAt, publishUntil }, answer.left);
  return { ...answer, hops };
}

export const follow = (...given: Parameters<typeof following>) => settled(following(...given));
