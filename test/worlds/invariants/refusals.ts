/** Rule: a caller is refused only because of the register, the lake or the scan limit. */
import type { AnsweredRequest } from '../caller.ts';
import { statesDuring } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import type { Parts } from '../parts.ts';
import type { CallerPlan } from '../plan.ts';
import type { Findings } from './judge.ts';

type Caller = Pick<CallerPlan, 'partner'>;

/** How long a function may cache an entry of the register. */
const REGISTER_MS = 60_000;

/**
 * The entries by which the requests of a pull may go until a moment. If a clock is set back by as much as has gone by, an
 * entry that is kept seems to be read a moment ago.
 */
export const entriesOf = (
  { register, world }: Parts,
  { caller, startedAt }: { readonly caller: Caller; readonly startedAt: number },
  to: number,
): ReturnType<Parts['register']['during']> => {
  const setMs = Math.min(0, world.plan.clocks.set?.byMs ?? 0);
  const entries = (ms: number) => register.during(caller.partner, startedAt + ms - REGISTER_MS, to + ms);
  return [...new Set([0, setMs].flatMap(entries))];
};

export function tooLargeFindings(
  { world, athena }: Parts,
  { pull: { caller, startedAt } }: AnsweredRequest,
): Findings {
  const { tooManyDays, raisesLimit } = world.plan.settings;
  const { deployedAt = Number.POSITIVE_INFINITY } = world;
  // A query whose end nobody had seen when the limit was raised has the limit before.
  const isOfLimitBefore = [...athena.queries.values()].some(
    ({ report, cause, toldEndTo }) =>
      cause === 'scan limit' &&
      toldEndTo.some(({ at }) => at >= deployedAt) &&
      report.days.join() === caller.days.join(),
  );
  return {
    'too-large-without-cause': caller.days.length < tooManyDays,
    'refused-below-limit': raisesLimit && startedAt >= deployedAt && !isOfLimitBefore,
  };
}

export const refusedFindings = (
  parts: Parts,
  { pull, startedAt, answeredAt }: AnsweredRequest,
): Findings => ({
  'unauthorized-without-cause': !mayBeRefused(parts, pull.caller, startedAt, answeredAt),
});

/** Whether a request may go by an entry of the register, perhaps a kept one, that gives its partner no companies. */
export const mayBeRefused = (parts: Parts, caller: Caller, startedAt: number, to: number): boolean =>
  entriesOf(parts, { caller, startedAt }, to).some(({ entry }) => openedBy(entry).length === 0);

export function missingFindings(parts: Parts, request: AnsweredRequest): Findings {
  const { world, lake } = parts;
  const { hop, pull, startedAt, answeredAt, answer } = request;
  const isOfLake = answer.body.includes('no-records');
  if (!isOfLake && hop > 0)
    return { 'ticket-gone': !mayBeRefused(parts, pull.caller, startedAt, answeredAt) };
  const { queriesPerPartner, listingSeconds } = world.plan.settings;
  const { wrong, set } = world.plan.clocks;
  const wasEmpty = (from: number, to: number) =>
    statesDuring(lake.states, { from, to }).some(({ files }) => files.size === 0);
  // If the caller waited for a slot, this request may be the first that lists the lake.
  const from = hop > 0 && queriesPerPartner > 0 ? startedAt : pull.startedAt;
  const lookMs = FIRST_LOOK_MS + answer.invocation.faults.length * FAULT_MS;
  return {
    'missing-without-cause': !isOfLake,
    // By such a clock, a listing may be kept for hours.
    'missing-though-there':
      listingSeconds > 0 && (wrong || set)
        ? undefined
        : !wasEmpty(pull.startedAt - listingSeconds * 1_000 - CLOCK_MS, answeredAt),
    'emptied-during-query': wasBegunAgain(parts, request) ? undefined : !wasEmpty(from, from + lookMs),
  };
}

/** The age of a listing that is kept may be wrong by this much, if no clock is wrong by hours. */
const CLOCK_MS = 6_000;

/**
 * Whether the request may have listed the lake once more. It does so if the partner's companies changed while it
 * waited, if a query for its days failed or was stopped, because the data may have changed, or if it waited for another
 * caller's attempt, which may be for other data.
 */
const wasBegunAgain = (parts: Parts, { pull, answeredAt }: AnsweredRequest): boolean =>
  entriesOf(parts, pull, answeredAt).length > 1 ||
  [...parts.athena.queries.values()].some(
    ({ cause, stopAskedAt, endedAt = stopAskedAt ?? 0, report, token, submittedAt }) =>
      (cause !== undefined ||
        stopAskedAt !== undefined ||
        submittedAt < pull.startedAt ||
        !parts.athena.creators.get(token)?.startsWith(`${pull.caller.id}.`)) &&
      endedAt >= pull.startedAt - LONGEST_ATTEMPT_MS &&
      endedAt <= answeredAt &&
      report.days.join() === pull.caller.days.join(),
  );

/** A caller may join an attempt that began up to this long before the caller's first request. */
const LONGEST_ATTEMPT_MS = 1_200_000;

/** If no call fails, a request lists the lake within this time after its start. */
const FIRST_LOOK_MS = 1_500;

/** The most time by which a fault delays that listing. */
const FAULT_MS = 6_500;
