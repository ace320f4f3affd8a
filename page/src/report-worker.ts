import { batch } from '@preact/signals';
import type { ReaderAnswer, ReaderRequest } from './reader/reader-messages.ts';
import { besideThis } from './service-address.ts';

let worker: Worker | undefined;

/**
 * Starts a worker for a report and ends the previous worker, with the report that it holds. Returns a function that
 * says whether the new worker is still the current one.
 */
export function startWorker(onAnswer: (answer: ReaderAnswer) => void): () => boolean {
  endWorker();
  const started = new Worker(besideThis('reader.js'), { type: 'module', name: 'reader' });
  worker = started;
  const isCurrent = () => worker === started;
  started.addEventListener('message', ({ data }: MessageEvent<ReaderAnswer>) => {
    if (isCurrent()) batch(() => onAnswer(data));
  });
  // The worker could not be loaded, or has failed. No answer will come.
  started.addEventListener('error', () => {
    const problem = {
      title: 'No reader',
      detail: 'This page could not read the report. Reload the page and run the report again.',
    };
    if (isCurrent()) batch(() => onAnswer({ kind: 'failed', problem }));
  });
  return isCurrent;
}

export function endWorker(): void {
  worker?.terminate();
  worker = undefined;
}

/** Sends a request to the worker that holds the report. */
export const askWorker = (request: ReaderRequest): void => worker?.postMessage(request);
