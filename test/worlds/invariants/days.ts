/** Rule: the states of days are those of one moment of the request. Any other answer has a cause. */
import type { Answer } from '../gateway.ts';
import { dayAfter, dayFolder, type LakeState, recordsOf, statesDuring, versionOf } from '../modelled-lake.ts';
import { TIME_LIMIT } from '../modelled-lambda.ts';
import type { Parts } from '../parts.ts';
import type { LookerPlan } from '../plan.ts';
import { listedTime } from '../s3-client.ts';
import { FINAL_AFTER_HOURS } from '../service.ts';
import { judge } from './judge.ts';
import { mayBeRefused } from './refusals.ts';

export const daysUrl = ({ days, fromHour }: LookerPlan): string =>
  `/reporting/publisherperformance/days?startInclusive=${days[0]}T${String(fromHour).padStart(2, '0')}:00:00Z` +
  `&endExclusive=${dayAfter(days)}T00:00:00Z&api-version=1.0`;

export function checkDays(
  parts: Parts,
  plan: LookerPlan,
  startedAt: number,
  { status, body, invocation, died, threw }: Answer,
): void {
  const { world, lake } = parts;
  const answeredAt = world.time.now();
  world.count(`days ${died ? 'killed' : status}`);
  const text = () => `${plan.id}: ${died ?? threw ?? status} ${body}`;
  judge(world, { 'handler-threw': threw !== undefined, 'reached-time-limit': died === TIME_LIMIT }, text);
  // Release 1.0.0 tells less about each day.
  if (died || invocation.machine.isOfReleaseBefore) return;
  const states = statesDuring(lake.states, { from: startedAt, to: answeredAt });
  const isFilled = states.some(({ files }) => files.size > 0);
  const isRight: Readonly<Record<number, () => boolean>> = {
    // A listing of several pages is none of one moment. Perhaps the days were empty, and the table no longer was.
    200: () => {
      const isOfPages = states.length > 1 && world.plan.settings.keysAPage < 1_000;
      const answer = JSON.stringify(JSON.parse(body).days);
      const isOf = (state: LakeState) => JSON.stringify(daysIn(state, plan.days)) === answer;
      return isOfPages || (isFilled && states.some(isOf));
    },
    401: () => mayBeRefused(parts, plan, startedAt, answeredAt),
    404: () => states.some(({ files }) => files.size === 0) && body.includes(':no-records'),
    500: () => !world.plan.settings.isListed || invocation.faults.some(({ kind }) => kind === 'denied'),
    503: () => invocation.faults.length > 0,
  };
  judge(world, { 'days-told-wrongly': !isRight[status]?.() }, text);
}

const textOf = (time: number): string => new Date(time).toISOString().replace(/\.\d+/, '');

/** What a window's days are in a state of the lake. */
function daysIn(state: LakeState, days: readonly string[]) {
  const markerOf = (day: string) => state.files.get(`${dayFolder(day)}_SUCCESS`);
  const end = dayAfter(days);
  const areMarked = [...state.files.values()].some(({ day }) => day < end && markerOf(day));
  return days
    .filter((day) => recordsOf(state, day).length > 0)
    .map((day) => {
      const [marker, endsAt] = [markerOf(day), Date.parse(dayAfter([day]))];
      return {
        day,
        startInclusive: `${day}T00:00:00Z`,
        endExclusive: textOf(endsAt),
        state: marker ? 'final' : areMarked ? 'open' : 'unknown',
        version: versionOf(state, [day]),
        ...(marker
          ? { finalSince: textOf(listedTime(marker)) }
          : { expectedAt: textOf(endsAt + FINAL_AFTER_HOURS * 3_600_000) }),
      };
    });
}
