/** Runs the clients of `load.ts` in a process of their own. */
import { setTimeout as delay } from 'node:timers/promises';
import { drawsOf } from './load-mix.ts';
import { pathOf } from './questions.ts';

export interface LoadPlan {
  readonly apiUrl: string;
  readonly authorization: string;
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
}

export interface LoadFound {
  /** The milliseconds of each report that no client had requested before. */
  readonly newMs: number[];
  readonly againMs: number[];
  readonly bytes: number;
  /** From the first request to the last byte of the last report. */
  readonly seconds: number;
  readonly failures: string[];
}

const {
  apiUrl,
  authorization,
  clients,
  seconds: plannedSeconds,
  seed,
} = JSON.parse(process.argv[2] ?? '') as LoadPlan;

const { draw, oneOf, question } = drawsOf(seed);

const found = { newMs: [] as number[], againMs: [] as number[], bytes: 0, failures: [] as string[] };
const pulled: string[] = [];
const asked = new Set<string>();

async function pull(path: string): Promise<number> {
  const from = performance.now();
  const response = await fetch(apiUrl + path, {
    headers: { Authorization: authorization, Accept: 'text/csv' },
  });
  const body = await response.arrayBuffer();
  const isReport = response.status === 200 && response.headers.get('content-type')?.startsWith('text/csv');
  if (!isReport)
    throw new Error(`${response.status} for ${path}: ${Buffer.from(body).toString().slice(0, 500)}`);
  found.bytes += body.byteLength;
  return performance.now() - from;
}

async function client(until: number): Promise<void> {
  while (Date.now() < until) {
    const again = pulled.length > 0 && draw(3) > 0;
    const path = again ? oneOf(pulled) : pathOf(question());
    const isNew = !asked.has(path);
    asked.add(path);
    try {
      (isNew ? found.newMs : found.againMs).push(await pull(path));
      if (isNew) pulled.push(path);
    } catch (error) {
      found.failures.push(String(error));
      // A service that refuses at once must not be asked in a tight loop.
      await delay(100);
    }
  }
}

const startedAt = performance.now();
const until = Date.now() + plannedSeconds * 1_000;
await Promise.all(Array.from({ length: clients }, () => client(until)));
const seconds = (performance.now() - startedAt) / 1_000;
process.stdout.write(JSON.stringify({ ...found, seconds } satisfies LoadFound));
