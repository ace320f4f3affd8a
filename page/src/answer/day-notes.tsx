import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { counted, listed } from '../format.ts';
import { overDays } from '../question/compare.ts';
import { listedDays, stateOf } from '../question/day-states.ts';
import { daysBetween, withWeekday } from '../question/presets.ts';
import { askForReport } from '../question/run-bar.tsx';
import { type Run, restated } from '../run.ts';
import { choice, choose, newestDay, report } from '../state.ts';

const SHOWN_DAYS = 7;

/** Names the days that were restated since the client's last visit with this browser, and offers a report of them. */
export function RestatedDays() {
  if (!restated.value) return null;
  const { days, since } = restated.value;
  const limited = overDays(choice.value, report.value, new Map(days.map((day) => [day, day])));
  const isAskable = limited && daysBetween(limited.days, MAX_WINDOW_DAYS + 1).length <= MAX_WINDOW_DAYS;
  return (
    <p class="notice">
      Since your last visit ({new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC),{' '}
      {counted(days.length, 'day was', 'days were')} restated: {listed(days.map(withWeekday), SHOWN_DAYS)}.{' '}
      {isAskable && (
        <button
          type="button"
          class="pill"
          onClick={() => {
            choose({ ...limited.choice, window: limited.days });
            askForReport();
          }}
        >
          Ask for {days.length === 1 ? 'this day' : 'these days'}
        </button>
      )}
    </p>
  );
}

/** Leads to the latest days if no day of the report has events. */
export function LatestDays({ run: { report: asked, askedDays } }: { readonly run: Run }) {
  const told = listedDays.value;
  const days = daysBetween(askedDays, MAX_WINDOW_DAYS);
  const newest = newestDay.value;
  if (newest === undefined || days.some((day) => stateOf(told, asked, day) !== 'missing')) return null;
  return (
    <p class="notice">
      No day of this window has events. The newest day with events is {withWeekday(newest)}.{' '}
      <button
        type="button"
        class="pill"
        onClick={() => {
          choose({ window: 'latest' });
          askForReport();
        }}
      >
        Show the latest 7 days with data
      </button>
    </p>
  );
}
