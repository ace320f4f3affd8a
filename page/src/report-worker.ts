import { batch } from '@preact/signals';
import type { ReaderAnswer, ReaderRequest } from './reader/reader-messages.ts';
import { besideThis } from './service-facts.ts';

/** The worker that asks for a report and reads it. */
let reading: Worker | undefined;
/** The worker that holds the report whose answer is shown. It lives until another report has been read. */
let holding: Worker | undefined;

/**
 * Starts a worker for a report, and ends the one that still reads another report. Returns a function that says whether
 * the new worker still reads.
 */
export function startWorker(onAnswer: (answer: ReaderAnswer) => void): () => boolean {
  endReading();
  const started = new Worker(besideThis('reader.js'), { type: 'module', name: 'reader' });
  reading = started;
  const isInUse = () => started === reading || started === holding;
  started.addEventListener('message', ({ data }: MessageEvent<ReaderAnswer>) => {
    if (isInUse()) batch(() => onAnswer(data));
  });
  // The worker could not be loaded, or has failed. No answer will come.
  started.addEventListener('error', () => {
    if (!isInUse()) return;
    if (started === holding) holding = undefined;
    const problem = {
      title: 'No reader',
      detail: 'This page could not read the report. Reload the page and run the report again.',
    };
    batch(() => onAnswer({ kind: 'failed', problem }));
  });
  return () => started === reading;
}

/** Keeps the worker that has read its report, and ends the one that holds the report before. */
export function holdReport(): void {
  holding?.terminate();
  holding = reading;
  reading = undefined;
}

export const isReportHeld = (): boolean => holding !== undefined;

export function endReading(): void {
  reading?.terminate();
  reading = undefined;
}

/** Asks for a report. */
export const askReader = (request: ReaderRequest & { readonly kind: 'read' }): void =>
  reading?.postMessage(request);

/** Sends a request to the worker that holds the report. */
export const askHolder = (request: Exclude<ReaderRequest, { kind: 'read' }>): void =>
  holding?.postMessage(request);
