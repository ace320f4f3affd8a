import { deliverReport } from '../../../lib/delivery/deliver-report.ts';
import type { Delivery, DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { readDataState } from '../../../lib/lake/read-data-state.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import { type Setting, termsNow, wanted } from './setting.ts';
import { settled } from './settled.ts';

/** The outcome of one request: its answer or its error, and how long it took. */
export interface Answer {
  readonly delivery?: Delivery;
  readonly error?: unknown;
  readonly ms: number;
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
    return { delivery, ms: Date.now() - from };
  } catch (error) {
    return { error, ms: Date.now() - from };
  }
}

export const ask = (...given: Parameters<typeof request>) => settled(request(...given));

/** The progress that a request hands to its caller's next request. */
export const leftBy = ({ delivery }: Answer): Progress | undefined =>
  delivery?.state === 'waiting' ? delivery.progress : undefined;

/** Sends a request, and follows the waiting URLs as a client does. */
export async function following(of: Setting, terms: Terms = {}): Promise<Answer & { hops: number }> {
  const { askedAt, giveUpAt, publishUntil } = termsNow(terms);
  let answer = await request(of, terms);
  let hops = 0;
  for (; answer.delivery?.state === 'waiting'; hops++)
    answer = await request(of, { ...terms, askedAt, giveUpAt, publishUntil }, leftBy(answer));
  return { ...answer, hops };
}

export const follow = (...given: Parameters<typeof following>) => settled(following(...given));

/** The key of the record of the job that was created last. */
export const recordKeyOf = ({ results }: Setting) => results.keys(/^jobs\/\w{64}\.json$/).at(-1) ?? '';
export const recordOf = (of: Setting) => of.results.document(recordKeyOf(of)) as Record<string, unknown>;

export const textOf = ({ results }: Setting, { delivery }: Answer) =>
  delivery?.state === 'ready' ? results.objects.get(delivery.key)?.text : undefined;
export const keyOf = ({ delivery }: Answer) => (delivery?.state === 'ready' ? delivery.key : undefined);
export const statusOf = ({ delivery }: Answer) =>
  delivery?.state === 'ready' ? delivery.cacheStatus : delivery?.state;
export const versionOf = ({ delivery }: Answer) =>
  delivery?.state === 'ready' ? delivery.dataVersion : undefined;
