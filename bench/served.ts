/** The one-machine service in a process of its own, so that its CPU and memory can be measured alone, and its callers. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathOf, type Question } from './questions.ts';
import { openReportStack } from './report-stack.ts';
import { collectWorkers } from './worker-garbage.ts';

/** The CPU and the memory that a process uses. */
interface Used {
  /** CPU since the last call of `used`. */
  readonly cpuMs: number;
  /** Memory after a garbage collection. */
  readonly memoryMb: number;
}

/** A service in its own process. Callers follow redirects. After an error, they pause (`Retry-After`) and ask again. */
export interface Served extends AsyncDisposable {
  pull(question: Question): Promise<void>;
  /** How long a caller waits until a report of about a gigabyte, in this encoding, begins to come. */
  gigabyteMs(question: Question, encoding: 'identity' | 'gzip'): Promise<number>;
  used(): Promise<Used>;
  /** How often each status was answered. An error without `Retry-After` counts as `<status> without`. */
  readonly statuses: ReadonlyMap<string, number>;
}

/** Starts this file as a process. */
export async function serve(eventsDirectory: string): Promise<Served> {
  const loaded = join(import.meta.dirname, 'worker-garbage.ts');
  const child = fork(import.meta.filename, [eventsDirectory], {
    execArgv: ['--expose-gc', '--import', loaded],
  });
  const heard = async <T>(): Promise<T> => {
    const listening = new AbortController();
    const [message] = await Promise.race([
      once(child, 'message', listening),
      once(child, 'exit', listening).then(([code]) =>
        Promise.reject(new Error(`the service ended with ${code}`)),
      ),
    ]);
    listening.abort();
    return message as T;
  };
  const { apiUrl, authorization, faultsUrl } =
    await heard<Record<'apiUrl' | 'authorization' | 'faultsUrl', string>>();
  const headers = { authorization, accept: 'text/csv', 'accept-encoding': 'identity' };
  const statuses = new Map<string, number>();
  return {
    statuses,
    async pull(question) {
      for (;;) {
        const response = await fetch(apiUrl + pathOf(question), { headers });
        for await (const _chunk of response.body ?? []);
        const retryAfter = response.headers.get('retry-after');
        const status = response.ok || retryAfter ? `${response.status}` : `${response.status} without`;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (response.ok) return;
        await delay(1_000 * Number(retryAfter ?? 5));
      }
    },
    async gigabyteMs(question, encoding) {
      const faults = JSON.stringify([{ on: 'query', resultBytes: 1e9, times: 1 }]);
      await fetch(faultsUrl, { method: 'PUT', body: faults });
      const began = performance.now();
      const response = await fetch(apiUrl + pathOf(question), {
        headers: { ...headers, 'accept-encoding': encoding },
      });
      const ms = performance.now() - began;
      await response.body?.cancel();
      if (response.status !== 200) throw new Error(`a gigabyte: ${response.status}`);
      return ms;
    },
    async used() {
      child.send('used');
      return heard<Used>();
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.send('close');
      await exited;
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const service = await openReportStack(process.argv[2] ?? '');
  let before = process.cpuUsage();
  process.on('message', async (message) => {
    if (message === 'used') {
      const { user, system } = process.cpuUsage(before);
      globalThis.gc?.();
      await collectWorkers();
      process.send?.({ cpuMs: (user + system) / 1_000, memoryMb: process.memoryUsage.rss() / 2 ** 20 });
      before = process.cpuUsage();
    } else if (message === 'close') {
      await service[Symbol.asyncDispose]();
      process.disconnect();
    }
  });
  const { apiUrl, faultsUrl } = service.stack;
  process.send?.({ apiUrl, faultsUrl, authorization: service.authorization });
}
