/** A caller is refused only where the register, the lake or the scan limit is the reason. */
import type { AnsweredRequest } from '../caller.ts';
import { statesDuring } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import type { Parts } from './parts.ts';

/** For how long a function may keep what the register said. */
export const REGISTER_MS = 60_000;

export const tooLargeFault = ({ world }: Parts, { pull }: AnsweredRequest): string | undefined =>
  pull.caller.days.length < world.plan.settings.tooManyDays ? 'too-large-without-cause' : undefined;

export const refusedFault = (parts: Parts, request: AnsweredRequest): string | undefined =>
  mayBeRefused(parts, request) ? undefined : 'unauthorized-without-cause';

const mayBeRefused = ({ register }: Parts, { pull, startedAt, answeredAt }: AnsweredRequest): boolean =>
  register
    .during(pull.caller.partner, startedAt - REGISTER_MS, answeredAt)
    .some((entry) => openedBy(entry).length === 0);

export function missingFault(parts: Parts, request: AnsweredRequest): string | undefined {
  const { world, lake } = parts;
  const { hop, pull, startedAt, answer } = request;
  if (answer.body.includes('no-records')) {
    // Where it waited for a slot, the first look at the lake is the one of this request.
    const isFirstLook = hop > 0 && world.plan.settings.queriesPerPartner > 0;
    const isHonest =
      // Where listings are kept, the answer may rest on one from before the request.
      world.plan.settings.listingSeconds > 0 ||
      wasEmptySoon(lake.states, isFirstLook ? startedAt : pull.startedAt, answer.invocation.faults.length) ||
      wasBegunAgain(parts, request);
    return isHonest ? undefined : 'emptied-during-query';
  }
  if (hop === 0) return 'missing-without-cause';
  return mayBeRefused(parts, request) ? undefined : 'ticket-gone';
}

/**
 * Whether the partner's companies changed while its request waited, or a query for its days failed, perhaps because the
 * data changed: then the request lists the lake once more.
 */
const wasBegunAgain = ({ register, athena }: Parts, { pull, answeredAt }: AnsweredRequest): boolean =>
  // A function may use companies that it read a minute before.
  register.during(pull.caller.partner, pull.startedAt - REGISTER_MS, answeredAt).length > 1 ||
  [...athena.queries.values()].some(
    ({ state, endedAt = 0, asked }) =>
      state === 'FAILED' &&
      endedAt >= pull.startedAt - LONGEST_ATTEMPT_MS &&
      endedAt <= answeredAt &&
      asked.days.join() === pull.caller.days.join(),
  );

/** A caller may join an attempt that was begun this long before it came. */
const LONGEST_ATTEMPT_MS = 1_200_000;

/** How long after its start a request looks at the lake, at the latest, where no call goes wrong. */
const FIRST_LOOK_MS = 1_500;

/** By how much a fault delays it at most. */
const FAULT_MS = 6_500;

const wasEmptySoon = (states: Parts['lake']['states'], from: number, faults: number): boolean =>
  statesDuring(states, { from, to: from + FIRST_LOOK_MS + faults * FAULT_MS }).some(
    ({ files }) => files.size === 0,
  );
