/** Rule: a caller is refused only because of the register, the lake or the scan limit. */
import type { AnsweredRequest } from '../caller.ts';
import { statesDuring } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import type { Parts } from '../parts.ts';
import { crossings } from './releases.ts';

/** How long a function may cache an entry of the register. */
export const REGISTER_MS = 60_000;

export function tooLargeFault(
  { world, athena }: Parts,
  { pull: { caller, startedAt } }: AnsweredRequest,
): string | undefined {
  const { tooManyDays, raisesLimit } = world.plan.settings;
  if (caller.days.length < tooManyDays) return 'too-large-without-cause';
  const { deployedAt = Number.POSITIVE_INFINITY } = world;
  // A query whose end nobody had seen when the limit was raised has the limit before.
  const isOfLimitBefore = [...athena.queries.values()].some(
    ({ asked, cause, toldEndTo }) =>
      cause === 'scan limit' &&
      toldEndTo.some(({ at }) => at >= deployedAt) &&
      asked.days.join() === caller.days.join(),
  );
  return raisesLimit && startedAt >= deployedAt && !isOfLimitBefore ? 'refused-below-limit' : undefined;
}

export const refusedFault = (parts: Parts, request: AnsweredRequest): string | undefined =>
  mayBeRefused(parts, request) ? undefined : 'unauthorized-without-cause';

const mayBeRefused = ({ register }: Parts, { pull, startedAt, answeredAt }: AnsweredRequest): boolean =>
  register
    .during(pull.caller.partner, startedAt - REGISTER_MS, answeredAt)
    .some(({ entry }) => openedBy(entry).length === 0);

export function missingFault(parts: Parts, request: AnsweredRequest): string | undefined {
  const { world, lake } = parts;
  const { hop, pull, startedAt, answer } = request;
  if (answer.body.includes('no-records')) {
    // If the caller waited for a slot, this request may be the first that lists the lake.
    const isFirstLook = hop > 0 && world.plan.settings.queriesPerPartner > 0;
    const isHonest =
      // If listings are cached, the answer may use a listing that is older than the request.
      world.plan.settings.listingSeconds > 0 ||
      wasEmptySoon(lake.states, isFirstLook ? startedAt : pull.startedAt, answer.invocation.faults.length) ||
      wasBegunAgain(parts, request) ||
      crossings(pull) > 0;
    return isHonest ? undefined : 'emptied-during-query';
  }
  if (hop === 0) return 'missing-without-cause';
  return mayBeRefused(parts, request) ? undefined : 'ticket-gone';
}

/**
 * Whether the request may have listed the lake once more. It does so if the partner's companies changed while it
 * waited, if a query for its days failed or was stopped, because the data may have changed, or if it waited for a query
 * of another caller, which may be over other data.
 */
const wasBegunAgain = ({ register, athena }: Parts, { pull, answeredAt }: AnsweredRequest): boolean =>
  // A function may use companies that it read up to a minute before.
  register.during(pull.caller.partner, pull.startedAt - REGISTER_MS, answeredAt).length > 1 ||
  [...athena.queries.values()].some(
    ({ state, stopAskedAt, endedAt = stopAskedAt ?? 0, asked, startedBy, submittedAt }) =>
      (state === 'FAILED' ||
        state === 'CANCELLED' ||
        stopAskedAt !== undefined ||
        submittedAt < pull.startedAt ||
        !startedBy.id.startsWith(`${pull.caller.id}.`)) &&
      endedAt >= pull.startedAt - LONGEST_ATTEMPT_MS &&
      endedAt <= answeredAt &&
      asked.days.join() === pull.caller.days.join(),
  );

/** A caller may join an attempt that began up to this long before the caller's first request. */
const LONGEST_ATTEMPT_MS = 1_200_000;

/** If no call fails, a request lists the lake within this time after its start. */
const FIRST_LOOK_MS = 1_500;

/** The most time by which a fault delays that listing. */
const FAULT_MS = 6_500;

const wasEmptySoon = (states: Parts['lake']['states'], from: number, faults: number): boolean =>
  statesDuring(states, { from, to: from + FIRST_LOOK_MS + faults * FAULT_MS }).some(
    ({ files }) => files.size === 0,
  );
