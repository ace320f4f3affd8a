import { batch, signal } from '@preact/signals';
import { MAX_WINDOW_DAYS } from '../../lib/report/utc-time.ts';
import { askView, beginView, showView, takeViewRows } from './answer/table-rows.ts';
import { chosenCaller } from './question/caller.ts';
import type { Caller, Choice } from './question/choice.ts';
import type { ComparedDays } from './question/compare.ts';
import { askDays } from './question/day-states.ts';
import { planComparison } from './question/plan-comparison.ts';
import { type Days, daysBetween, resolveWindow } from './question/presets.ts';
import { type AskedRequest, parametersOf, urlOf } from './question/request.ts';
import { type Restated, restatedSince } from './question/seen-days.ts';
import type { ChartAxis, ChartData } from './reader/chart-data.ts';
import type { Cell } from './reader/read-csv.ts';
import {
  type ChartQuestion,
  type Look,
  MAX_RETRIES,
  type ReaderAnswer,
  type Reading,
  type ReportProblem,
  type Split,
  type Spreadsheet,
  type TableColumn,
  type Total,
} from './reader/reader-messages.ts';
import { askHolder, askReader, endReading, holdReport, isReportHeld, startWorker } from './report-worker.ts';
import { serviceAddress } from './service-facts.ts';
import {
  answeredFaults,
  choice,
  days,
  isBuilderOpen,
  look,
  newestDay,
  report,
  requestUrl,
  today,
} from './state.ts';

/** One run of a report, from the click to its end. */
export interface Run {
  readonly phase: 'waiting' | 'reading' | 'done' | 'too-large' | 'failed';
  readonly report: string;
  readonly title: string;
  /** The choice at the moment of the click. */
  readonly choice: Choice;
  readonly days: Days;
  /** The days of the report's file: the window or, in a comparison, the compared days of the window. */
  readonly askedDays: Days;
  readonly caller: Caller;
  /**
   * The requests whose files the answer shows: the report's own and, in a comparison, that of the period before. Empty
   * until they are known.
   */
  readonly requests: readonly AskedRequest[];
  /** The URL of the request for the choice. If the URL for the present choice differs, the choice has changed. */
  readonly url: string;
  /** The start of the run, by `performance.now()`. */
  readonly startedAt: number;
  /** The time until the report arrived, in milliseconds. */
  readonly waitedMs?: number;
  /** The days that are compared; absent if the report is not compared. */
  readonly compared?: ComparedDays;
  readonly reading?: Reading;
  /** The first rows of the file, shown while the page reads it, or if it is too large to read. */
  readonly firstRows: readonly (readonly Cell[])[];
  readonly columns?: readonly TableColumn[];
  readonly tableRows?: number;
  readonly totals?: readonly Total[];
  /** The dimensions that can split the chart. */
  readonly splits?: readonly Split[];
  readonly axes?: readonly ChartAxis[];
  readonly file?: Blob;
  readonly downloadUrl?: string;
  readonly problem?: ReportProblem;
  /** Whether the run has failed because the page could not read the file of the period before. */
  readonly isBeforeMissing?: boolean;
  /** How many times the page has asked again by itself. */
  readonly retries: number;
  /** When the page asks again, or when the service allows it, by `performance.now()`. */
  readonly retryAt?: number | undefined;
}

/** The newest run. */
export const run = signal<Run | undefined>(undefined);
/** The newest run that brought a report. It is shown until another run brings one. */
export const answer = signal<Run | undefined>(undefined);
export const chart = signal<ChartData | undefined>(undefined);
/** The days of the answer that were restated since the client's last visit with this browser. */
export const restated = signal<Restated | undefined>(undefined);
/** What became of the table as a file, once the user has asked for it. */
export const spreadsheet = signal<Spreadsheet | 'under way' | undefined>(undefined);

export const isUnderWay = (): boolean => run.value?.phase === 'waiting' || run.value?.phase === 'reading';

/** Whether the page will ask again by itself. */
export const isRetrying = ({ phase, retries, retryAt }: Run): boolean =>
  phase === 'failed' && retryAt !== undefined && retries < MAX_RETRIES;

/** Whether a run is of another question than the one that is chosen now. */
export const isOfAnotherQuestion = ({ url, choice: asked, caller }: Run): boolean =>
  !isOfThisRequest({ url, choice: asked }) || chosenCaller().key !== caller.key;

/** Whether a run asked for the report and the comparison that are chosen now, whoever asked. */
export const isOfThisRequest = ({ url, choice: asked }: Pick<Run, 'url' | 'choice'>): boolean =>
  requestUrl.value === url && choice.value.compare === asked.compare;

/** Resolves when the service has told the states and versions of the days, for the newest run. */
let toldDays: Promise<void> = Promise.resolve();
/** The look that the newest run was asked with. */
let askedLook = look.value;
let retryTimer: ReturnType<typeof setTimeout> | undefined;

/**
 * Asks for the chosen report. Drops a run that is under way.
 *
 * @param retries how many times the page has asked for it again by itself
 */
export async function startRun(retries = 0): Promise<void> {
  cancelRun();
  const asked = report.value;
  const { name, title } = asked;
  const caller = chosenCaller();
  const started: Run = {
    phase: 'waiting',
    report: name,
    title,
    caller,
    choice: choice.value,
    days: days.value,
    askedDays: days.value,
    requests: [],
    firstRows: [],
    retries,
    url: requestUrl.value,
    startedAt: performance.now(),
  };
  const isCurrent = startWorker(take);
  batch(() => {
    run.value = started;
    answeredFaults.value = [];
    // Closes the form to make room for the answer. If the page asks again by itself, the user may be in the form.
    if (retries === 0) isBuilderOpen.value = false;
  });
  // Asks for the days' states again, because open days may have become final since the last answer.
  toldDays = askDays(name);
  if (started.choice.window === 'latest' && newestDay.value === undefined) await toldDays;
  const token = await caller.token().catch(() => undefined);
  if (!isCurrent()) return;
  if (token === undefined)
    return fail({ title: 'No token', detail: 'No token could be had for the sample partner. Run it again.' });
  const over = resolveWindow(started.choice.window, { today: today.value, newest: newestDay.value });
  const requestOf = (what: Choice, days: Days): AskedRequest => ({
    days,
    parameters: parametersOf(what, days),
  });
  const url = ({ parameters }: AskedRequest) => urlOf(serviceAddress, asked, parameters);
  const ofAll = requestOf(started.choice, over);
  const comparing = await planComparison(caller, started.choice, asked, over);
  if (!isCurrent()) return;
  const { now, before, daysLater } = comparing?.sides ?? {};
  const own = now ? requestOf(now.choice, now.days) : ofAll;
  const ofBefore = before && requestOf(before.choice, before.days);
  run.value = {
    ...started,
    days: over,
    url: url(ofAll),
    requests: [own, ...(ofBefore ? [ofBefore] : [])],
    askedDays: own.days,
    ...(comparing && { compared: comparing.compared }),
  };
  askedLook = look.value;
  askReader({
    kind: 'read',
    url: url(own),
    token,
    report: name,
    fields: started.choice.fields,
    look: askedLook,
    ...(ofBefore && daysLater && { before: { url: url(ofBefore), daysLater } }),
  });
}

/** Drops the run under way, and shows the answer before it again. The service ends the query by itself. */
export function cancelRun(): void {
  endReading();
  clearTimeout(retryTimer);
  const now = run.value;
  if (isUnderWay() || (now && isRetrying(now))) run.value = answer.value;
}

export function askChart(question: ChartQuestion): void {
  look.value = { ...look.value, chart: question };
  askHolder({ kind: 'chart', question });
}

/** Shows the answer in another look, if it is the answer to the present question. */
export function lookOtherwise(next: Look): void {
  look.value = next;
  if (!answer.value || isOfAnotherQuestion(answer.value)) return;
  askView(next.view);
  askChart(next.chart);
}

/** Has the worker make a file of the table, which is then downloaded by this name. */
export function askSpreadsheet(
  facts: readonly (readonly [name: string, value: string])[],
  fileName: string,
): void {
  spreadsheet.value = 'under way';
  askHolder({ kind: 'spreadsheet', facts, fileName });
}

function take(message: ReaderAnswer): void {
  const now = run.value;
  if (!now) return;
  switch (message.kind) {
    case 'began':
      run.value = { ...now, phase: 'reading', waitedMs: performance.now() - now.startedAt };
      return;
    case 'rows':
      run.value = { ...now, firstRows: [...now.firstRows, ...message.rows], reading: message.reading };
      return;
    case 'done': {
      const { kind: _, chart: drawn, view, ...result } = message;
      holdReport();
      chart.value = drawn;
      beginView(view);
      // The user may have changed the chart of the answer before, while this one was made.
      if (look.value.chart !== askedLook.chart) askChart(look.value.chart);
      showAnswer({ ...now, ...result, phase: 'done' });
      return;
    }
    case 'view':
      showView(message.result);
      return;
    case 'view-rows':
      takeViewRows(message);
      return;
    case 'chart':
      chart.value = message.chart;
      return;
    case 'spreadsheet': {
      spreadsheet.value = message;
      if (message.file) download(message.file, message.fileName);
      return;
    }
    case 'too-large':
      holdReport();
      showAnswer({ ...now, phase: 'too-large', reading: message.reading, downloadUrl: message.downloadUrl });
      return;
    case 'failed':
      fail(message.problem, message.isBefore);
  }
}

function showAnswer(answered: Run): void {
  spreadsheet.value = undefined;
  restated.value = undefined;
  run.value = answered;
  answer.value = answered;
  const { caller, report, compared, askedDays } = answered;
  const shown = compared
    ? compared.pairs.flatMap((pair) => [pair.day, pair.before])
    : daysBetween(askedDays, MAX_WINDOW_DAYS);
  void toldDays.then(() => {
    if (answer.value === answered) restated.value = restatedSince(caller.id, report, shown);
  });
}

function download(file: Blob, fileName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = fileName;
  link.click();
  // The browser takes the file a moment after the press.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function fail(problem: ReportProblem, isBeforeMissing = false): void {
  if (!run.value) return;
  endReading();
  // The worker that held the answer has failed.
  if (!isReportHeld()) answer.value = undefined;
  // If the request for a comparison's earlier period failed, its faults are not shown at the inputs: the inputs hold
  // the days of the report itself.
  answeredFaults.value = isBeforeMissing ? [] : (problem.errors ?? []);
  const waitMs = problem.retryAfterSeconds === undefined ? undefined : problem.retryAfterSeconds * 1_000;
  const failed: Run = {
    ...run.value,
    phase: 'failed',
    problem,
    isBeforeMissing,
    ...(waitMs !== undefined && { retryAt: performance.now() + waitMs }),
  };
  run.value = failed;
  if (!isRetrying(failed)) return;
  retryTimer = setTimeout(() => {
    if (run.value !== failed) return;
    if (isOfAnotherQuestion(failed)) run.value = { ...failed, retryAt: undefined };
    else void startRun(failed.retries + 1);
  }, waitMs);
}
