import { counted, duration, fileSize } from '../format.ts';
import { questionWords } from '../question/question-words.ts';
import { askForReport } from '../question/run-bar.tsx';
import { answer, chart, isOfAnotherQuestion, type Run, run } from '../run.ts';
import { isBuilderOpen } from '../state.ts';
import { ChartView } from './chart-view.tsx';
import { ComparedWords } from './compared-words.tsx';
import { LatestDays, RestatedDays } from './day-notes.tsx';
import { Downloads } from './downloads.tsx';
import { EmptyReport } from './empty-report.tsx';
import { FailureView } from './failure-view.tsx';
import { ReadingBar, Waiting } from './progress-view.tsx';
import { ReadingRows, RowsTable } from './rows-table.tsx';
import { TotalsView } from './totals-view.tsx';

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
          {isBuilderOpen.value ? (
            'Run the report again.'
          ) : (
            <button type="button" class="pill" onClick={askForReport}>
              Run the report
            </button>
          )}
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
