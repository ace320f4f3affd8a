/** Rule: a 503 has a cause: refused calls, a time limit, slots that stayed full, or data that kept changing. */
import type { AnsweredRequest } from '../caller.ts';
import type { Parts } from '../parts.ts';

export function unavailableFault(
  { world, lake, athena }: Parts,
  { answer, pull, answeredAt }: AnsweredRequest,
): string | undefined {
  const { invocation, body } = answer;
  const waitedMs = answeredAt - pull.startedAt;
  const { longestQueryMs, queriesPerPartner } = world.plan.settings;
  if (invocation.line?.['cause'] !== undefined || body.includes('more to do'))
    // If only Athena fails, S3 can store the ticket. The caller is then sent to the waiting room and gets no 503.
    return invocation.faults.some(({ operation }) => operation.startsWith('S3')) ||
      world.plan.outages.some(({ service }) => service === 'S3')
      ? undefined
      : 'overloaded-without-cause';
  if (body.includes('took too long')) {
    const hadOldQuery = [...athena.queries.values()].some(
      ({ submittedAt, endedAt = answeredAt }) => endedAt - submittedAt > 0.5 * longestQueryMs,
    );
    return waitedMs < 0.45 * longestQueryMs && !hadOldQuery ? 'given-up-early' : undefined;
  }
  if (body.includes('were under way'))
    return queriesPerPartner === 0 || waitedMs < 0.9 * longestQueryMs ? 'slot-given-up-early' : undefined;
  if (body.includes('being rewritten')) {
    const changes = lake.states.filter(({ from }) => from >= pull.startedAt - 60_000 && from <= answeredAt);
    return changes.length < 3 ? 'rewritten-without-cause' : undefined;
  }
  return world.troubles.happened.length === 0 ? 'unavailable-without-cause' : undefined;
}
