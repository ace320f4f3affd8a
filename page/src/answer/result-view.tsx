import { useEffect, useState } from 'preact/hooks';
import { focusOn } from '../focus.ts';
import { counted, duration, fileSize } from '../format.ts';
import { chosenCaller, chosenPartner } from '../question/caller.ts';
import { faultWords } from '../question/fault-words.ts';
import { questionWords } from '../question/question-words.ts';
import { askForReport } from '../question/run-bar.tsx';
import { cancelRun, chart, type Run, run } from '../run.ts';
import { serviceFacts } from '../service-facts.ts';
import { choice, isBuilderOpen, requestUrl } from '../state.ts';
import { ChartView } from './chart-view.tsx';
import { ComparedWords } from './compared-words.tsx';
import { EmptyReport } from './empty-report.tsx';
import { failureWords, waitingWords } from './failure-words.ts';
import { ReadingRows, RowsTable } from './rows-table.tsx';
import { TotalsView } from './totals-view.tsx';

/** What has become of the run: waiting, totals, chart, rows, download; or why there is no report. */
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
      {now.phase === 'failed' && <Failure run={now} />}
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

/** Without dimensions there is a row of totals whatever the filters: zeros say as little as no row. */
const hasNothing = ({ tableRows, columns = [], totals = [], choice: { filters } }: Run): boolean =>
  tableRows === 0 ||
  (filters.length > 0 &&
    columns.every(({ kind }) => kind !== 'dimension') &&
    totals.every(({ sum, before }) => isNothing(sum) && isNothing(before)));

const isNothing = (digits: string | null | undefined): boolean => !/[1-9]/.test(digits ?? '');

/** One sentence for each state: it is read out when it changes, so that it must not change with every row. */
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

/** The seconds of the wait: for the eye alone. */
function Waiting({ startedAt }: { readonly startedAt: number }) {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="waiting">
      <progress aria-label="The report is being made" />
      <span aria-hidden="true">{waitingWords(now - startedAt, serviceFacts.value.longestReportSeconds)}</span>
      <Cancel />
    </div>
  );
}

function Cancel() {
  return (
    <button
      type="button"
      class="pill"
      onClick={() => {
        cancelRun();
        // With the result goes this button: whoever has dropped the run asks something else.
        isBuilderOpen.value = true;
        focusOn('.run-bar button');
      }}
    >
      Cancel
    </button>
  );
}

function ReadingBar({ run: { reading } }: { readonly run: Run }) {
  if (!reading) return <progress aria-label="Reading the report" />;
  const { rowCount, bytes, totalBytes } = reading;
  return (
    <div class="waiting">
      <progress aria-label="Reading the report" {...(totalBytes && { value: bytes, max: totalBytes })} />
      <span aria-hidden="true">
        {counted(rowCount, 'row')}, {fileSize(bytes)}
        {totalBytes ? ` of ${fileSize(totalBytes)}` : ''}
      </span>
      <Cancel />
    </div>
  );
}

function Failure({ run: { problem, isBeforeMissing, choice, days } }: { readonly run: Run }) {
  if (!problem) return null;
  const { sentence, cure } = failureWords(problem);
  const { contact } = serviceFacts.value;
  const isRunAgain = cure === 'run again' || cure === 'ask the operator';
  return (
    <div class="failure" role="alert">
      <p>
        <strong>
          {isBeforeMissing && 'The days to compare with could not be had. '}
          {sentence}
        </strong>
        {cure === 'another token' &&
          (chosenPartner.value === '' ? ' Paste a new token.' : ' Choose another partner.')}
        {cure === 'ask the operator' &&
          ` Run it again; if it fails again, send the trace id to ${contact ?? 'the operator'}.`}
      </p>
      {problem.errors && (
        <ul>
          {problem.errors.map(({ parameter, detail }) => (
            <li key={parameter + detail}>
              {isBeforeMissing ? detail : faultWords({ parameter, detail }, { fields: choice.fields, days })}
            </li>
          ))}
        </ul>
      )}
      {problem.instance && (
        <p class="hint">
          Trace id: <code>{problem.instance}</code>
        </p>
      )}
      <button
        type="button"
        class="pill"
        onClick={() => {
          if (isRunAgain) return askForReport();
          isBuilderOpen.value = true;
          focusOn(
            '.builder [aria-invalid="true"]',
            cure === 'another token' ? callerInput() : '.run-bar button',
          );
        }}
      >
        {isRunAgain ? 'Run it again' : 'Change the question'}
      </button>
    </div>
  );
}

/** Where somebody says who asks: by a partner of this machine, or by a token. */
const callerInput = (): string => (chosenPartner.value === '' ? '#token' : 'input[name="partner"]:checked');

/** The file's own bytes where they were read; a link to the store where they were not. */
function Download({ run: { file, fileName = 'report.csv', downloadUrl } }: { readonly run: Run }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!file) return setUrl(undefined);
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  // The address of the file before stands until the effect has run.
  const href = file ? url : downloadUrl;
  if (href === undefined) return null;
  return (
    <a class="primary" href={href} download={fileName}>
      Download CSV
    </a>
  );
}
