import { useEffect, useRef, useState } from 'preact/hooks';
import { fieldOf, reportOf } from '../../lib/report/catalogue.ts';
import { MetricChart } from './chart-view.tsx';
import { counted, duration, fileSize, grouped } from './format.ts';
import { RowsTable } from './rows-table.tsx';
import { chart, type Run, rows, run } from './run.ts';
import { currency, requestUrl } from './state.ts';

/** What has become of the run: waiting, rows, totals, chart, download; or why there is no report. */
export function ResultView() {
  const heading = useRef<HTMLHeadingElement>(null);
  const now = run.value;
  // Scrolls to where the run can be followed, once it begins.
  useEffect(() => {
    if (now?.phase === 'waiting') heading.current?.scrollIntoView();
  }, [now?.startedAt]);
  if (!now) return null;
  return (
    <section class="result" aria-labelledby="result-title">
      <div class="result-head">
        <h2 id="result-title" ref={heading}>
          {now.title}
        </h2>
        <Download run={now} />
      </div>
      {requestUrl.value !== now.url && now.phase !== 'failed' && (
        <p class="notice">This is of the request before your last change. Run the report again.</p>
      )}
      <p role="status" class="status">
        {statusOf(now)}
      </p>
      {now.phase === 'waiting' && <Waiting startedAt={now.startedAt} />}
      {now.phase === 'reading' && <ReadingBar run={now} />}
      {now.phase === 'failed' && <Failure run={now} />}
      {now.totals && now.totals.length > 0 && <Totals run={now} />}
      {now.phase === 'done' && chart.value && (
        <MetricChart chart={chart.value} fields={now.fields} report={now.report} />
      )}
      {rows.value.length > 0 && <RowsTable rows={rows.value} run={now} />}
    </section>
  );
}

/** One sentence for each state: it is read out when it changes, so that it must not change with every row. */
function statusOf({ phase, waitedMs = 0, reading }: Run): string {
  const { rowCount = 0, bytes = 0, totalBytes = 0 } = reading ?? {};
  switch (phase) {
    case 'waiting':
      return 'The report is being made.';
    case 'reading':
      return 'The report is there. Reading it.';
    case 'done':
      return rowCount === 0
        ? 'The report is there and has no rows: nothing of what the token opens fits the request.'
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
      <span aria-hidden="true">
        {duration(Math.max(0, now - startedAt)).replace(/\.\d/, '')}
        {now - startedAt > 20_000 && ' — large reports take minutes. The page waits up to half an hour.'}
      </span>
    </div>
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
    </div>
  );
}

function Failure({ run: { problem } }: { readonly run: Run }) {
  if (!problem) return null;
  return (
    <div class="failure" role="alert">
      <h3>{problem.title}</h3>
      <p>{problem.detail}</p>
      {problem.errors && (
        <ul>
          {problem.errors.map(({ parameter, detail }) => (
            <li key={parameter + detail}>
              <code>{parameter}</code>: {detail}
            </li>
          ))}
        </ul>
      )}
      {problem.instance && (
        <p class="hint">
          To ask the operator about it: <code>{problem.instance}</code>
        </p>
      )}
    </div>
  );
}

/** The file's own bytes where they were read; a link to the store where they were not. */
function Download({ run: { file, fileName = 'report.csv', downloadUrl } }: { readonly run: Run }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!file) return setUrl(undefined);
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  const href = url ?? downloadUrl;
  if (href === undefined) return null;
  return (
    <a class="primary" href={href} download={fileName}>
      Download CSV
    </a>
  );
}

function Totals({ run: { totals = [], report } }: { readonly run: Run }) {
  const asked = reportOf(report);
  return (
    <dl class="totals" aria-label="Totals of the whole file">
      {totals.map(({ metric, sum }) => (
        <div key={metric}>
          <dt>{metric}</dt>
          <dd>
            {grouped(sum)}
            {asked && fieldOf(asked, metric)?.type === 'float' && currency.value !== ''
              ? ` ${currency.value}`
              : ''}
          </dd>
        </div>
      ))}
    </dl>
  );
}
