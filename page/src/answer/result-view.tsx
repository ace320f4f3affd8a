import { useEffect, useState } from 'preact/hooks';
import { counted, duration, fileSize } from '../format.ts';
import { chosenCaller } from '../question/caller.ts';
import { questionWords } from '../question/question-words.ts';
import { askForReport } from '../question/run-bar.tsx';
import { chart, type Run, run } from '../run.ts';
import { choice, isBuilderOpen, requestUrl } from '../state.ts';
import { ChartView } from './chart-view.tsx';
import { ComparedWords } from './compared-words.tsx';
import { EmptyReport } from './empty-report.tsx';
import { FailureView } from './failure-view.tsx';
import { ReadingBar, Waiting } from './progress-view.tsx';
import { ReadingRows, RowsTable } from './rows-table.tsx';
import { TotalsView } from './totals-view.tsx';

/** Shows the state of the run: the wait, then totals, chart, rows and download, or why there is no report. */
export function ResultView() {
  const now = run.value;
  if (!now) return null;
  const isEmpty = now.phase === 'done' && hasNothing(now);
  return (
    <section class="result" aria-labelledby="result-title">
      <div class="result-head">
        <h2 id="result-title" tabIndex={-1}>
          {now.title}
        </h2>
        <p role="status" class="status">
          {statusOf(now)}
        </p>
        {!isEmpty && <Download run={now} />}
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
      {now.compared && now.phase === 'done' && <ComparedWords compared={now.compared} />}
      {isEmpty && <EmptyReport run={now} />}
      {now.phase === 'done' && !isEmpty && (
        <>
          <TotalsView run={now} />
          {chart.value && <ChartView chart={chart.value} run={now} />}
          <RowsTable run={now} />
        </>
      )}
      {(now.phase === 'reading' || now.phase === 'too-large') && <ReadingRows run={now} />}
    </section>
  );
}

const isOfAnotherQuestion = ({ url, choice: asked, caller }: Run): boolean =>
  requestUrl.value !== url || choice.value.compare !== asked.compare || chosenCaller().key !== caller.key;

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

/**
 * One sentence for each state. Screen readers read it out whenever it changes, so it must not change with every row.
 */
function statusOf(run: Run): string {
  const { phase, waitedMs = 0, choice, days } = run;
  const { rowCount = 0, bytes = 0, totalBytes = 0 } = run.reading ?? {};
  switch (phase) {
    case 'waiting':
      return `The report is being made. ${questionWords(choice, days)}`;
    case 'reading':
      return 'The report is there. Reading it.';
    case 'done':
      return hasNothing(run)
        ? 'The report is there and has no rows.'
        : `${counted(rowCount, 'row')}, ${fileSize(bytes)}, made in ${duration(waitedMs)}.`;
    case 'too-large':
      return `The file has ${fileSize(totalBytes || bytes)}: too large to read here. These are its first rows, without totals and chart. Download it for the rest.`;
    case 'failed':
      return 'There is no report.';
  }
}

/** The download link. It leads to the file's bytes if the page has read them, else to the download store. */
function Download({ run: { file, fileName = 'report.csv', downloadUrl } }: { readonly run: Run }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!file) return setUrl(undefined);
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  // Until the effect has run, `url` is still the address of the previous file.
  const href = file ? url : downloadUrl;
  if (href === undefined) return null;
  return (
    <a class="primary" href={href} download={fileName}>
      Download CSV
    </a>
  );
}
