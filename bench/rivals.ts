import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pythonWith } from '../test/clients/python.ts';
import type { Used } from './measured-process.ts';

/** What somebody would use instead who writes Python, with the packages that `bench/rivals/` needs. */
export const rivalsPython = (): Promise<string | undefined> =>
  pythonWith('rivals', [
    'duckdb==1.5.5',
    'fastapi==0.165.0',
    'uvicorn==0.54.0',
    'pyarrow==26.0.1',
    'polars==2.1.0',
    'datafusion==55.0.0',
  ]);

/** What reports took that were made one after the other. */
export interface Made {
  /** Of each report. */
  readonly ms: readonly number[];
  /** Of all. */
  readonly cpuMs: number;
}

/** What each of them took, in milliseconds, on average. */
export const eachOf = ({ ms, cpuMs }: Made) => ({
  ms: ms.reduce((total, each) => total + each, 0) / ms.length,
  cpuMs: cpuMs / ms.length,
});

const program = (name: string) => join(import.meta.dirname, 'rivals', name);

/** Makes reports with an engine alone, in a process of its own. */
export async function makeWith(
  python: string,
  engine: 'polars' | 'datafusion',
  eventsDirectory: string,
  sql: readonly string[],
): Promise<Made> {
  const scratch = await mkdtemp(join(tmpdir(), 'rival-'));
  const child = spawn(python, [program('engine.py'), engine, eventsDirectory, scratch], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(sql));
  const told = await text(child.stdout);
  await rm(scratch, { recursive: true });
  return JSON.parse(told);
}

/** DuckDB behind FastAPI, in a process of its own. */
export interface RivalService extends AsyncDisposable {
  readonly url: string;
  /** CPU since this was last asked, and memory. */
  used(): Promise<Used>;
}

export async function startRivalService(python: string, eventsDirectory: string): Promise<RivalService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(python, [program('service.py'), eventsDirectory, String(port)], { stdio: 'inherit' });
  const read = async (): Promise<Used> => (await fetch(`${url}/used`)).json() as Promise<Used>;
  let before = (await firstAnswer(child, read)).cpuMs;
  return {
    url,
    async used() {
      const { cpuMs, memoryMb } = await read();
      const since = cpuMs - before;
      before = cpuMs;
      return { cpuMs: since, memoryMb };
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

async function firstAnswer<T>(child: ChildProcess, ask: () => Promise<T>): Promise<T> {
  while (child.exitCode === null) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`the other service ended with ${child.exitCode}`);
}
