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
  /** What was chosen and asked for. */
  readonly choice: Choice;
  readonly days: Days;
  /** The days that the file is of: in a comparison, those of the window that are compared. */
  readonly askedDays: Days;
  readonly caller: Caller;
  /** The request of what was chosen, to tell when something else is chosen. */
  readonly url: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** How long the report took to be there, in milliseconds. */
  readonly waitedMs?: number;
  /** The days that are compared; absent if the report is not compared. */
  readonly compared?: ComparedDays;
  readonly fileName?: string;
  readonly reading?: Reading;
  readonly columns?: readonly TableColumn[];
  /** Rows of the table: in a comparison also those that only the days before have. */
  readonly tableRows?: number;
  readonly totals?: readonly Total[];
  /** The dimensions that the chart can be split by. */
  readonly splits?: readonly { readonly name: string; readonly valueCount: number }[];
  readonly file?: Blob;
  readonly downloadUrl?: string;
  readonly problem?: ReportProblem;
  /** Whether it was the file of the days before that could not be had. */
  readonly isBeforeMissing?: boolean;
}

export const run = signal<Run | undefined>(undefined);
/** The first rows of the file, while it is read. */
export const firstRows = signal<readonly (readonly Cell[])[]>([]);
export const chart = signal<ChartData | undefined>(undefined);

export const isUnderWay = (): boolean => run.value?.phase === 'waiting' || run.value?.phase === 'reading';

/** Asks for the chosen report. One that is under way is dropped. */
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
    // The form makes room for the answer.
    isBuilderOpen.value = false;
  });
  // Days may have been closed since they were told of.
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

/** Drops the run under way; the service ends its query by itself. */
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
  // Ends the worker: nothing more is asked of it, and later messages of it are ignored.
  endWorker();
  // Faults of the period before are not shown at inputs: these have the days of the report itself.
  answeredFaults.value = isBeforeMissing ? [] : (problem.errors ?? []);
  run.value = { ...run.value, phase: 'failed', problem, isBeforeMissing };
}
