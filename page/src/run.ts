import { batch, signal } from '@preact/signals';
import { showView, takeViewRows } from './answer/table-rows.ts';
import { accessToken } from './question/caller.ts';
import type { Choice } from './question/choice.ts';
import { type ComparedDays, comparedDays, dayPairs, overDays } from './question/compare.ts';
import { type DayState, fetchDays } from './question/day-states.ts';
import type { Days } from './question/presets.ts';
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
import { answeredFaults, choice, days, isBuilderOpen, report, requestUrl, windowDays } from './state.ts';

/** One run of a report, from the click to its end. */
export interface Run {
  readonly phase: 'waiting' | 'reading' | 'done' | 'too-large' | 'failed';
  readonly report: string;
  readonly title: string;
  /** What was chosen and asked for. */
  readonly choice: Choice;
  readonly days: Days;
  /** The request of what was chosen, to tell when something else is chosen. */
  readonly url: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** How long the report took to be there, in milliseconds. */
  readonly waitedMs?: number;
  /** Where it is compared with other days: which. */
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
}

export const run = signal<Run | undefined>(undefined);
/** The first rows of the file, while it is read. */
export const firstRows = signal<readonly (readonly Cell[])[]>([]);
export const chart = signal<ChartData | undefined>(undefined);

export const isUnderWay = (): boolean => run.value?.phase === 'waiting' || run.value?.phase === 'reading';

/** Asks for the chosen report. One that is under way is dropped. */
export async function startRun(): Promise<void> {
  cancelRun();
  const { name, title } = report.value;
  const started: Run = {
    phase: 'waiting',
    report: name,
    title,
    choice: choice.value,
    days: days.value,
    url: requestUrl.value,
    startedAt: performance.now(),
  };
  const isCurrent = startWorker(take);
  batch(() => {
    run.value = started;
    firstRows.value = [];
    chart.value = undefined;
    answeredFaults.value = [];
    showView(undefined);
    // The form makes room for the answer.
    isBuilderOpen.value = false;
  });
  // Read before anything is waited for: the choice may change meanwhile.
  const window = windowDays.value;
  const asked = report.value;
  const url = (what: Choice, over: Days) => urlOf(serviceAddress, asked, parametersOf(what, over));
  try {
    const token = await accessToken();
    const plain = {
      kind: 'read',
      url: started.url,
      token,
      report: name,
      fields: started.choice.fields,
    } as const;
    const compared = await daysToCompare(started.choice, window);
    if (!isCurrent()) return;
    if (compared === undefined) return askWorker(plain);
    run.value = { ...started, compared };
    const now = overDays(started.choice, asked, new Map(compared.pairs.map(({ day }) => [day, day])));
    const before = overDays(
      started.choice,
      asked,
      new Map(compared.pairs.map(({ day, before }) => [day, before])),
    );
    if (!now || !before) return askWorker(plain);
    askWorker({
      ...plain,
      url: url(now.choice, now.days),
      before: {
        url: url(before.choice, before.days),
        daysLater: new Map(compared.pairs.map(({ day, before }) => [before, day])),
      },
    });
  } catch {
    if (isCurrent())
      fail({ title: 'No token', detail: 'No token could be had for the sample partner. Run it again.' });
  }
}

/** The days of a comparison; undefined where none is chosen. */
async function daysToCompare(
  { compare, report }: Choice,
  window: readonly string[],
): Promise<ComparedDays | undefined> {
  const pairs = dayPairs(compare, window);
  const [first, last] = [pairs[0], pairs.at(-1)];
  if (!first || !last) return undefined;
  const told = await Promise.all([
    fetchDays(report, first.day, last.day),
    fetchDays(report, first.before, last.before),
  ]);
  // Where the service tells nothing of the days, all are compared.
  if (told.includes(undefined)) return comparedDays(pairs, () => undefined);
  const states = new Map<string, DayState>(
    told.flatMap((days) => days ?? []).map(({ day, state }) => [day, state]),
  );
  return comparedDays(pairs, (day) => states.get(day) ?? 'missing');
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
      showView(view);
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
      fail(answer.isBefore ? ofTheDaysBefore(answer.problem) : answer.problem);
  }
}

const ofTheDaysBefore = (problem: ReportProblem): ReportProblem => ({
  ...problem,
  detail: `The days to compare with could not be had: ${problem.detail}`,
});

function fail(problem: ReportProblem): void {
  if (!run.value) return;
  answeredFaults.value = problem.errors ?? [];
  run.value = { ...run.value, phase: 'failed', problem };
}
