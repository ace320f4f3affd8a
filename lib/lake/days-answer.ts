import * as v from 'valibot';
import { reports } from '../report/catalogue.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { MARKER_LOOKBACK_DAYS } from './data-version.ts';

/** No `format: date-time`: clients that know it write `.000Z` or `+00:00`, which the contract does not allow. */
const text = (form: string) => v.pipe(v.string(), v.regex(RegExp(patternOf(form))));
const time = (description: string) => v.pipe(text(UTC_TIME_FORM), v.description(description));

const dayState = v.object({
  day: v.pipe(text('YYYY-MM-DD'), v.description('UTC.')),
  startInclusive: time('The midnight that begins the day, even if the window begins later.'),
  endExclusive: time(
    'The midnight that begins the next day, even if the window ends earlier. A report of exactly this day has the window from startInclusive to endExclusive.',
  ),
  state: v.pipe(
    v.picklist(['final', 'open', 'unknown']),
    v.description(
      `\`final\`: complete, until it is opened again. \`open\`: more may come. \`unknown\`: the data do not say (no day of the window and of the ${MARKER_LOOKBACK_DAYS} days before it is marked as complete).`,
    ),
  ),
  version: v.pipe(
    v.string(),
    v.minLength(1),
    v.description(
      'Changes when the data of the day change, and only then. Compare it for equality; nothing else is promised of it. A report of exactly this day has it in `Data-Version`.',
    ),
  ),
  expectedAt: v.exactOptional(
    time(
      'By when the operator promises the day to be final. Present if there is a promise and the day is not final; in the past, the day is late.',
    ),
  ),
  finalSince: v.exactOptional(
    time('Since when the day has been final. Present if there is a promise and the day is final.'),
  ),
});

export type DayState = v.InferOutput<typeof dayState>;

/** What `GET /reporting/{report}/days` answers. */
export const daysAnswer = v.object({
  report: v.picklist(reports.map(({ name }) => name)),
  startInclusive: text(UTC_TIME_FORM),
  endExclusive: text(UTC_TIME_FORM),
  days: v.array(dayState),
});
