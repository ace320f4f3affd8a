import type { DataState } from '../lake/data-version.ts';
import { Overloaded } from '../problems/problem.ts';
import type { Progress } from '../results/ticket.ts';
import { arrive } from './arrive.ts';
import type { Delivery, DeliveryBackends, DeliveryFacts, DeliveryTerms, Wanted } from './delivery.ts';
import { followAttempt } from './follow-attempt.ts';
import { leadAttempt } from './lead-attempt.ts';
import { firstPhase, type Phase, progressOf, type Run, type Step, waiting } from './phase.ts';

/**
 * Gets a report ready, if possible by the time at which the request must be answered (docs/contract.md#the-redirect).
 * It gives the cached report of this version of the data, or else joins or starts a query. Throws NoRecords,
 * ReportTooLarge, Unavailable, QueryFailed or PublicationFailed.
 *
 * @param note takes facts for the log and the metrics, also before an error is thrown
 * @param data the data to report on: what the awaited attempt reads, or what the lake holds now
 * @param left what an earlier request of the same caller left, if there was one
 */
export async function deliverReport(
  backends: DeliveryBackends,
  wanted: Wanted,
  terms: DeliveryTerms,
  note: (facts: DeliveryFacts) => void,
  data: DataState,
  left?: Progress,
): Promise<Delivery> {
  const run: Run = { backends, wanted, terms, note };
  let phase = firstPhase(wanted, data, left);
  for (;;) {
    note({ job: phase.target.job.id });
    const next: Step = await step(run, phase).catch((error: unknown) => {
      // AWS throttles this request. Its caller has time left to wait on: the query or publication goes on, or a slot
      // becomes free.
      const progress = progressOf(phase);
      if (error instanceof Overloaded && progress && Date.now() < terms.publishUntil)
        return waiting(progress);
      throw error;
    });
    if ('delivery' in next) return next.delivery;
    if ('refusal' in next) throw next.refusal;
    phase = next;
  }
}

/** Does what is next in a phase. */
function step(run: Run, phase: Phase): Promise<Step> {
  switch (phase.at) {
    case 'arrived':
      return arrive(run, phase);
    case 'following':
      return followAttempt(run, phase);
    case 'leading':
      return leadAttempt(run, phase);
  }
}
