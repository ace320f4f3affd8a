/** Loaded into each thread of a measured process, so that the garbage of its workers can be collected too. */
import { once } from 'node:events';
import { BroadcastChannel, isMainThread, type Worker } from 'node:worker_threads';

const CHANNEL = 'garbage';
let workers = 0;

if (isMainThread)
  process.on('worker', (worker: Worker) => {
    workers += 1;
    worker.once('exit', () => {
      workers -= 1;
    });
  });
else {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: { data: string }) => {
    if (data !== 'collect') return;
    globalThis.gc?.();
    channel.postMessage('collected');
  };
  channel.unref();
}

/** Collects the garbage of every worker of this process. */
export async function collectWorkers(): Promise<void> {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('collect');
  for (let collected = 0; collected < workers; collected++) await once(channel, 'message');
  channel.close();
}
