import { batch, signal } from '@preact/signals';
import { accessToken } from './caller.ts';
import type { ChartData } from './chart-data.ts';
import type { Cell } from './read-csv.ts';
import type { ReaderAnswer, ReaderRequest, Reading, ReportProblem, Total } from './reader-messages.ts';
import { besideThis } from './service-address.ts';
import { answeredFaults, choice, report, requestUrl } from './state.ts';

/** One run of a report, from the click to its end. */
export interface Run {
  readonly phase: 'waiting' | 'reading' | 'done' | 'too-large' | 'failed';
  readonly report: string;
  readonly title: string;
  readonly fields: readonly string[];
  /** What was asked, to tell when something else is chosen. */
  readonly url: string;
  readonly startedAt: number;
  /** How long the report took to be there, in milliseconds. */
  readonly waitedMs?: number;
  readonly fileName?: string;
  readonly reading?: Reading;
  readonly totals?: readonly Total[];
  readonly file?: Blob;
  readonly downloadUrl?: string;
  readonly problem?: ReportProblem;
}

export const run = signal<Run | undefined>(undefined);
/** The first rows of the report, as they come. */
export const rows = signal<readonly (readonly Cell[])[]>([]);
export const chart = signal<ChartData | undefined>(undefined);

let reader: Worker | undefined;

const ask = (request: ReaderRequest) => reader?.postMessage(request);

/** Asks for the chosen report. One that is under way is dropped. */
export async function startRun(): Promise<void> {
  cancelRun();
  const { fields } = choice.value;
  const { name, title } = report.value;
  const url = requestUrl.value;
  const started: Run = { phase: 'waiting', report: name, title, fields, url, startedAt: performance.now() };
  batch(() => {
    run.value = started;
    rows.value = [];
    chart.value = undefined;
    answeredFaults.value = [];
  });
  const worker = new Worker(besideThis('reader.js'), { type: 'module', name: 'reader' });
  reader = worker;
  worker.addEventListener('message', ({ data }: MessageEvent<ReaderAnswer>) => {
    if (reader === worker) batch(() => take(data));
  });
  try {
    const token = await accessToken();
    if (reader === worker) ask({ kind: 'read', url, token, report: name, fields });
  } catch {
    fail({ title: 'No token', detail: 'No token could be had for the sample partner. Run it again.' });
  }
}

/** Drops the run under way; the service ends its query by itself. */
export function cancelRun(): void {
  reader?.terminate();
  reader = undefined;
  if (run.value?.phase === 'waiting' || run.value?.phase === 'reading') run.value = undefined;
}

export const chooseMetric = (metric: string): void => ask({ kind: 'chart', metric });

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
      rows.value = [...rows.value, ...answer.rows];
      run.value = { ...now, reading: answer.reading };
      return;
    case 'progress':
      run.value = { ...now, reading: answer.reading };
      return;
    case 'done':
      chart.value = answer.chart;
      run.value = {
        ...now,
        phase: 'done',
        reading: answer.reading,
        totals: answer.totals,
        file: answer.file,
      };
      return;
    case 'too-large':
      run.value = { ...now, phase: 'too-large', reading: answer.reading, downloadUrl: answer.downloadUrl };
      return;
    case 'chart':
      chart.value = answer.chart;
      return;
    case 'failed':
      fail(answer.problem);
  }
}

function fail(problem: ReportProblem): void {
  if (!run.value) return;
  answeredFaults.value = problem.errors ?? [];
  run.value = { ...run.value, phase: 'failed', problem };
}
