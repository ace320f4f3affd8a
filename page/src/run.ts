import { batch, signal } from '@preact/signals';
import { beginView, showView, takeViewRows } from './answer/table-rows.ts';
import { chosenCaller } from './question/caller.ts';
import type { Caller } from './question/caller-token.ts';
import type { Choice } from './question/choice.ts';
import type { ComparedDays } from './question/compare.ts';
import { askDays } from './question/day-states.ts';
import { planComparison } from './question/plan-comparison.ts';
import { type Days, resolveWindow } from './question/presets.ts';
import { parametersOf, urlOf } from './question/request.ts';
import type { ChartData } from './reader/chart-data.ts';
import type { Cell } from './reader/read-csv.ts';
import type {
  ChartQuestion,
  ReaderAnswer,
  Reading,
  ReportProblem,
  TableColumn,
  Total,
} from './reader/reader-messages.ts';
import { askWorker, endWorker, startWorker } from './report-worker.ts';
import { serviceAddress } from './service-address.ts';
import {
  answeredFaults,
  choice,
  days,
  isBuilderOpen,
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
  /** The URL of the request for the choice. If the URL for the present choice differs, the choice has changed. */
  readonly url: string;
  /** The start of the run, by `performance.now()`. */
  readonly startedAt: number;
  /** The time until the report arrived, in milliseconds. */
  readonly waitedMs?: number;
  /** The days that are compared; absent if the report is not compared. */
  readonly compared?: ComparedDays;
  readonly fileName?: string;
  readonly reading?: Reading;
  readonly columns?: readonly TableColumn[];
  /** The number of rows in the table. In a comparison, this includes rows that only the period before has. */
  readonly tableRows?: number;
  readonly totals?: readonly Total[];
  /** The dimensions that can split the chart. */
  readonly splits?: readonly { readonly name: string; readonly valueCount: number }[];
  readonly file?: Blob;
  readonly downloadUrl?: string;
  readonly problem?: ReportProblem;
  /** Whether the run has failed because the page could not read the file of the period before. */
  readonly isBeforeMissing?: boolean;
}

export const run = signal<Run | undefined>(undefined);
/** The first rows of the file, shown while the page reads it, or if it is too large to read. */
export const firstRows = signal<readonly (readonly Cell[])[]>([]);
export const chart = signal<ChartData | undefined>(undefined);

export const isUnderWay = (): boolean => run.value?.phase === 'waiting' || run.value?.phase === 'reading';

/** Asks for the chosen report. Drops a run that is under way. */
export async function startRun(): Promise<void> {
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
    url: requestUrl.value,
    startedAt: performance.now(),
  };
  const isCurrent = startWorker(take);
  batch(() => {
    run.value = started;
    firstRows.value = [];
    chart.value = undefined;
    answeredFaults.value = [];
    beginView(undefined);
    // Closes the form to make room for the answer.
    isBuilderOpen.value = false;
  });
  // Asks for the days' states again, because open days may have become final since the last answer.
  const told = askDays(name);
  if (started.choice.window === 'latest' && newestDay.value === undefined) await told;
  const token = await caller.token().catch(() => undefined);
  if (!isCurrent()) return;
  if (token === undefined)
    return fail({ title: 'No token', detail: 'No token could be had for the sample partner. Run it again.' });
  const over = resolveWindow(started.choice.window, { today: today.value, newest: newestDay.value });
  const url = (what: Choice, days: Days) => urlOf(serviceAddress, asked, parametersOf(what, days));
  const ofAll = { days: over, askedDays: over, url: url(started.choice, over) };
  const comparing = await planComparison(caller, started.choice, asked, over);
  if (!isCurrent()) return;
  run.value = {
    ...started,
    ...ofAll,
    ...(comparing && { compared: comparing.compared, askedDays: comparing.sides?.now.days ?? over }),
  };
  const { now, before, daysLater } = comparing?.sides ?? {};
  askWorker({
    kind: 'read',
    url: now ? url(now.choice, now.days) : ofAll.url,
    token,
    report: name,
    fields: started.choice.fields,
    ...(before && daysLater && { before: { url: url(before.choice, before.days), daysLater } }),
  });
}

/** Drops the run under way. The service ends the query by itself. */
export function cancelRun(): void {
  endWorker();
  if (isUnderWay()) run.value = undefined;
}

export const askChart = (question: ChartQuestion): void => askWorker({ kind: 'chart', question });

function take(answer: ReaderAnswer): void {
  const now = run.value;
  if (!now) return;
  switch (answer.kind) {
    case 'began':
      run.value = {
        ...now,
        phase: 'reading',
        fileName: answer.fileName,
        waitedMs: performance.now() - now.startedAt,
      };
      return;
    case 'rows':
      firstRows.value = [...firstRows.value, ...answer.rows];
      run.value = { ...now, reading: answer.reading };
      return;
    case 'progress':
      run.value = { ...now, reading: answer.reading };
      return;
    case 'done': {
      const { kind: _, chart: drawn, view, ...result } = answer;
      chart.value = drawn;
      beginView(view);
      run.value = { ...now, phase: 'done', tableRows: view.rowCount, ...result };
      return;
    }
    case 'view':
      showView(answer.result);
      return;
    case 'view-rows':
      takeViewRows(answer);
      return;
    case 'chart':
      chart.value = answer.chart;
      return;
    case 'too-large':
      run.value = { ...now, phase: 'too-large', reading: answer.reading, downloadUrl: answer.downloadUrl };
      return;
    case 'failed':
      fail(answer.problem, answer.isBefore);
  }
}

function fail(problem: ReportProblem, isBeforeMissing = false): void {
  if (!run.value) return;
  // Ends the worker. The page asks it nothing more, and ignores its later messages.
  endWorker();
  // If the request for a comparison's earlier period failed, its faults are not shown at the inputs: the inputs hold
  // the days of the report itself.
  answeredFaults.value = isBeforeMissing ? [] : (problem.errors ?? []);
  run.value = { ...run.value, phase: 'failed', problem, isBeforeMissing };
}
