/** Is loaded into each thread of a measured process, so that its main thread can collect every worker's garbage. */
import { once } from 'node:events';
import { BroadcastChannel, isMainThread, threadId, type Worker } from 'node:worker_threads';

const channel = new BroadcastChannel('garbage');
/** The workers that have loaded this module. A worker that runs no file does not load it. */
const workers = new Set<number>();

if (isMainThread) {
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (typeof data === 'number') workers.add(data);
  };
  process.on('worker', (worker: Worker) => {
    const { threadId } = worker;
    worker.once('exit', () => workers.delete(threadId));
  });
} else {
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (data !== 'collect') return;
    globalThis.gc?.();
    channel.postMessage('collected');
  };
  channel.postMessage(threadId);
}
channel.unref();

/** Runs a garbage collection in each worker thread of this process; resolves when all have run. */
export async function collectWorkers(): Promise<void> {
  const asking = new BroadcastChannel('garbage');
  asking.postMessage('collect');
  for (let collected = 0; collected < workers.size; ) {
    const [{ data }] = await once(asking, 'message');
    if (data === 'collected') collected += 1;
  }
  asking.close();
}
