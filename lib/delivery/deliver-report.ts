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
 * Delivers the cached report of this data version if there is one; otherwise joins or starts a query. Throws NoRecords,
 * ReportTooLarge, Unavailable, QueryFailed or PublicationFailed.
 *
 * @param note takes facts for the log and the metrics, also before an error is thrown
 * @param data the state of the data to report on: the state that the awaited attempt reads, or the lake's state now
 * @param left the progress that the caller's previous request stored, if there was one
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
      // AWS throttles this request, and its caller has time left. The caller goes on waiting: meanwhile the query or
      // the publication continues, or a slot becomes free.
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

/** Takes the next step from this phase. */
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
