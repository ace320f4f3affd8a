import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PARTITION_COLUMN, tables } from '../lib/report/tables.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import { aboutSetting, OperatorFault } from '../lib/terminal/operator-fault.ts';
import type { OnProgress } from '../lib/terminal/progress.ts';
import { duckDbOn } from './athena/duckdb-engine.ts';
import type { OpenEngine } from './athena/query-engine.ts';
import { trinoOn } from './trino/trino-engine.ts';
import { clusterOf } from './trino/trino-statement.ts';

export interface ChosenEngine {
  readonly openEngine: OpenEngine;
  /** The directory of the events. Undefined if the events are in a cluster. */
  readonly eventsDirectory: string | undefined;
  /** Whether the events are the sample events. */
  readonly hasSampleEvents: boolean;
  /** The last day with events, `YYYY-MM-DD`. For a cluster, it is today. */
  lastDay(): Promise<string>;
}

/** The engine that the environment asks for: a Trino cluster, or DuckDB on EVENTS_DIR or on sample events. */
export async function chooseEngine(
  env: NodeJS.ProcessEnv,
  sampleEvents: () => Promise<string>,
  onProgress: OnProgress,
): Promise<ChosenEngine> {
  const cluster = await aboutSetting('TRINO_URL', () => clusterOf(env));
  if (cluster) {
    if (env['EVENTS_DIR'])
      throw new OperatorFault("TRINO_URL: can't be set beside EVENTS_DIR. Unset one of them.");
    return {
      openEngine: (place) => aboutSetting('TRINO_URL', () => trinoOn(cluster)(place)),
      eventsDirectory: undefined,
      hasSampleEvents: false,
      lastDay: async () => utcDay(Date.now()),
    };
  }
  const eventsDirectory = env['EVENTS_DIR'] || (await sampleEvents());
  return {
    openEngine: (place) =>
      aboutSetting('EVENTS_DIR', () => duckDbOn(eventsDirectory, { onWarning: warn, onProgress })(place)),
    eventsDirectory,
    hasSampleEvents: !env['EVENTS_DIR'],
    lastDay: () => lastPartition(eventsDirectory),
  };
}

/** Prints a warning about events that are served nevertheless. */
const warn = (line: string): void => void process.stderr.write(`EVENTS_DIR: ${line}\n`);

const PREFIX = `${PARTITION_COLUMN}=`;

/** The newest day of all tables. A lake may hold only one of the tables. */
async function lastPartition(eventsDirectory: string): Promise<string> {
  const names = await Promise.all(
    tables.map(({ name }) => readdir(join(eventsDirectory, name)).catch((): string[] => [])),
  );
  const days = names
    .flat()
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
  return days.sort().at(-1) ?? utcDay(Date.now());
}
