import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pythonWith } from '../test/clients/python.ts';
import { freePort, stopServer, untilReady } from '../test/server-process.ts';
import type { Used } from './measured-process.ts';

/** A Python with the packages for the programs of `bench/baselines/`. Undefined if the machine has no Python. */
export const baselinePython = (): Promise<string | undefined> =>
  pythonWith('baselines', ['duckdb==1.5.5', 'fastapi==0.165.0', 'uvicorn==0.54.0', 'pyarrow==26.0.1']);

/** The cost of reports that were made one after the other. */
export interface Made {
  /** The milliseconds of each report. */
  readonly ms: readonly number[];
  /** The CPU-milliseconds of all reports together. */
  readonly cpuMs: number;
}

/** The mean cost of one report. */
export const eachOf = ({ ms, cpuMs }: Made) => ({
  ms: ms.reduce((total, each) => total + each, 0) / ms.length,
  cpuMs: cpuMs / ms.length,
});

/** A service of FastAPI and DuckDB in a process of its own (`baselines/service.py`). */
export interface BaselineService extends AsyncDisposable {
  readonly url: string;
  /** The CPU since the last call of `used`, and the memory. */
  used(): Promise<Used>;
}

const START_MS = 60_000;
const STOP_MS = 10_000;

export async function startBaselineService(
  python: string,
  eventsDirectory: string,
): Promise<BaselineService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    python,
    [join(import.meta.dirname, 'baselines/service.py'), eventsDirectory, String(port)],
    { stdio: 'inherit' },
  );
  const read = async (): Promise<Used> => (await fetch(`${url}/used`)).json() as Promise<Used>;
  const answers = () =>
    read().then(
      () => true,
      () => false,
    );
  if (!(await untilReady(child, START_MS, answers))) throw new Error('FastAPI does not start');
  let before = (await read()).cpuMs;
  return {
    url,
    async used() {
      const { cpuMs, memoryMb } = await read();
      const since = cpuMs - before;
      before = cpuMs;
      return { cpuMs: since, memoryMb };
    },
    [Symbol.asyncDispose]: () => stopServer(child, STOP_MS),
  };
}
