import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { Pill } from '../buttons.tsx';
import { counted, duration, fileSize, listed } from '../format.ts';
import { type ComparedDays, hasOtherWeekday, overDays } from '../question/compare.ts';
import { listedDays, stateOf } from '../question/day-states.ts';
import { daysBetween, withWeekday } from '../question/presets.ts';
import { questionWords } from '../question/question-words.ts';
import { askForReport } from '../question/run-bar.tsx';
import { answer, chart, isOfAnotherQuestion, type Run, restated, run } from '../run.ts';
import { choice, choose, isBuilderOpen, newestDay, report } from '../state.ts';
import { ChartView } from './chart-view.tsx';
import { Downloads } from './downloads.tsx';
import { EmptyReport } from './empty-report.tsx';
import { FailureView } from './failure-view.tsx';
import { ReadingBar, Waiting } from './progress-view.tsx';
import { ReadingRows, RowsTable } from './rows-table.tsx';
import { TotalsView } from './totals-view.tsx';

const SHOWN_LEFT_OUT_DAYS = 4;

/** Says which days are compared with each other, which days are left out, and why. */
function ComparedWords({ compared: { pairs, leftOut, isUntold } }: { readonly compared: ComparedDays }) {
  const [first, last] = [pairs[0], pairs.at(-1)];
  const why = (['no data', 'open'] as const).flatMap((reason) => {
    const those = leftOut.filter((pair) => pair.why === reason);
    if (those.length === 0) return [];
    const days = those.map(({ day, before }) => `${day} against ${before}`);
    return [
      `${reason === 'open' ? 'a day is open' : 'a day has no data'}: ${listed(days, SHOWN_LEFT_OUT_DAYS)}`,
    ];
  });
  return (
    <div class="compared">
      <p>
        {first && last
          ? `${counted(pairs.length, 'day')} against as many: ${spanOf(first.day, last.day)} with ${spanOf(first.before, last.before)}.`
          : 'There is no data to compare with: this is the report alone.'}
        {pairs.some(hasOtherWeekday) &&
          ' The weekdays differ: a change may be that of the weekdays. Compare with the same weekdays.'}
        {why.length > 0 && ` Left out on both sides, since ${why.join('; ')}.`}
        {first && why.length > 0 && ' The file to download is of the days that are compared.'}
        {isUntold && ' Whether days are open or have no data could not be found out.'}
      </p>
      {first && (
        <details>
          <summary>Which day is beside which</summary>
          <ul>
            {pairs.map(({ day, before }) => (
              <li key={day}>
                {withWeekday(day)} beside {withWeekday(before)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const spanOf = (first: string, last: string): string =>
  first === last ? withWeekday(first) : `${withWeekday(first)} to ${withWeekday(last)}`;

const SHOWN_DAYS = 7;

/** Names the days that were restated since the client's last visit with this browser, and offers a report of them. */
function RestatedDays() {
  if (!restated.value) return null;
  const { days, since } = restated.value;
  const limited = overDays(choice.value, report.value, new Map(days.map((day) => [day, day])));
  const isAskable = limited && daysBetween(limited.days, MAX_WINDOW_DAYS + 1).length <= MAX_WINDOW_DAYS;
  return (
    <p class="notice">
      Since your last visit ({new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC),{' '}
      {counted(days.length, 'day was', 'days were')} restated: {listed(days.map(withWeekday), SHOWN_DAYS)}.{' '}
      {isAskable && (
        <Pill
          onClick={() => {
            choose({ ...limited.choice, window: limited.days });
            askForReport();
          }}
        >
          Ask for {days.length === 1 ? 'this day' : 'these days'}
        </Pill>
      )}
    </p>
  );
}

/** Leads to the latest days if no day of the report has events. */
function LatestDays({ run: { report: asked, askedDays } }: { readonly run: Run }) {
  const told = listedDays.value;
  const days = daysBetween(askedDays, MAX_WINDOW_DAYS);
  const newest = newestDay.value;
  if (newest === undefined || days.some((day) => stateOf(told, asked, day) !== 'missing')) return null;
  return (
    <p class="notice">
      No day of this window has events. The newest day with events is {withWeekday(newest)}.{' '}
      <Pill
        onClick={() => {
          choose({ window: 'latest' });
          askForReport();
        }}
      >
        Show the latest 7 days with data
      </Pill>
    </p>
  );
}

/**
 * Shows the state of the run: the wait, then totals, chart, rows and download, or why there is no report. The answer
 * before stays until there is another one.
 */
export function ResultView() {
  const now = run.value;
  if (!now) return null;
  const isAnswer = now === answer.value;
  const kept = isAnswer || now.phase === 'reading' ? undefined : answer.value;
  const shown = isAnswer ? now : kept;
  return (
    <section class="result" aria-labelledby="result-title">
      <div class="result-head">
        <h2 id="result-title" tabIndex={-1}>
          {now.title}
        </h2>
        <p role="status" class="status">
          {statusOf(now)}
        </p>
        {isAnswer && !isEmpty(now) && <Downloads run={now} />}
      </div>
      {isOfAnotherQuestion(now) && now.phase !== 'failed' && (
        <p class="notice">
          This is of the question before your last change.{' '}
          {isBuilderOpen.value ? 'Run the report again.' : <Pill onClick={askForReport}>Run the report</Pill>}
        </p>
      )}
      {now.phase === 'waiting' && <Waiting startedAt={now.startedAt} />}
      {now.phase === 'reading' && <ReadingBar run={now} />}
      {now.phase === 'failed' && <FailureView run={now} />}
      {now.phase === 'reading' && <ReadingRows run={now} />}
      {shown && (
        <div class={kept ? 'answer kept' : 'answer'}>
          {kept && (
            <div class="notice">
              The answer below is an earlier one: {questionWords(kept.choice, kept.days)}.{' '}
              {isEmpty(kept) ? '' : statusOf(kept)} <Downloads run={kept} isEarlier />
            </div>
          )}
          <Answer run={shown} />
        </div>
      )}
    </section>
  );
}

/** Totals, chart and rows of a report, and what must be known to read them. */
function Answer({ run: shown }: { readonly run: Run }) {
  return (
    <>
      <RestatedDays />
      <LatestDays run={shown} />
      {shown.compared && <ComparedWords compared={shown.compared} />}
      {shown.phase === 'too-large' && <ReadingRows run={shown} />}
      {isEmpty(shown) && <EmptyReport run={shown} />}
      {shown.phase === 'done' && !isEmpty(shown) && (
        <>
          <TotalsView run={shown} />
          {chart.value && <ChartView chart={chart.value} run={shown} />}
          <RowsTable run={shown} />
        </>
      )}
    </>
  );
}

const isEmpty = (now: Run): boolean => now.phase === 'done' && hasNothing(now);

/**
 * Whether a report has nothing to show. A report without dimensions always has one row of totals. If such a report has
 * filters, a row of zeros counts as nothing.
 */
const hasNothing = ({ tableRows, columns = [], totals = [], choice: { filters } }: Run): boolean =>
  tableRows === 0 ||
  (filters.length > 0 &&
    columns.every(({ kind }) => kind !== 'dimension') &&
    totals.every(({ sum, before }) => isNothing(sum) && isNothing(before)));

const isNothing = (digits: string | null | undefined): boolean => !/[1-9]/.test(digits ?? '');

/** The rows of the table and, if the file has fewer, those of the file. */
const rowWords = (rowCount: number, tableRows: number): string =>
  rowCount === tableRows
    ? counted(rowCount, 'row')
    : `${counted(tableRows, 'row')}, of which ${tableRows - rowCount} only on the days before; ` +
      `in the file ${counted(rowCount, 'row')}`;

/**
 * One sentence for each state. Screen readers read it out whenever it changes, so it must not change with every row.
 */
function statusOf(run: Run): string {
  const { phase, waitedMs = 0, choice, days } = run;
  const { rowCount = 0, bytes = 0, totalBytes = 0 } = run.reading ?? {};
  const { tableRows = rowCount, caller } = run;
  const asked = caller.id === '' ? '' : `, asked as ${caller.id}`;
  switch (phase) {
    case 'waiting':
      return `The report is being made. ${questionWords(choice, days)}`;
    case 'reading':
      return 'The report is there. Reading it.';
    case 'done':
      return hasNothing(run)
        ? `The report is there and has no rows${asked}.`
        : `${rowWords(rowCount, tableRows)}, ${fileSize(bytes)}, made in ${duration(waitedMs)}${asked}.`;
    case 'too-large':
      return `The file has ${fileSize(totalBytes || bytes)}: too large to read here. These are its first rows, without totals and chart. Download it for the rest.`;
    case 'failed':
      return 'There is no report.';
  }
}
