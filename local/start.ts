/** `npm start`: the whole service on this machine, on sample events, on EVENTS_DIR or on a Trino cluster. */
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { MOST_FINAL_AFTER_HOURS } from '../lib/names.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { PARTITION_COLUMN, tables } from '../lib/report/tables.ts';
import { formatUtcTime, utcDay } from '../lib/report/utc-time.ts';
import { reportPath } from '../lib/routes.ts';
import { aboutSetting, OperatorFault, reportingFaults } from '../lib/terminal/operator-fault.ts';
import { type OnProgress, repeatedProgress, showProgress } from '../lib/terminal/progress.ts';
import { duckDbOn } from './athena/duckdb-engine.ts';
import { type LocalPartner, PARTNERS_OF_SAMPLE_EVENTS, readPartners } from './clients.ts';
import { makeSampleEvents } from './events/sample-events.ts';
import { beginRun } from './run-folder.ts';
import { type StackOptions, startStack } from './stack.ts';
import { LOCAL_DIR, removeLeftovers, runningStack, writeStackFile } from './stack-file.ts';
import { clusterOf, trinoOn } from './trino/trino-engine.ts';

/** About five times the rate of all report routes of the stage `prod`. A client in a retry loop gets 429. */
const THROTTLING = { perSecond: 200, burst: 400 };

function portOf(text = '8080'): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new OperatorFault(`PORT is "${text}". Set it to a number from 0 to 65535; 0 takes a free port.`);
}

/** How many hours after its end (UTC) a day is promised to be final; undefined if nothing is promised. */
function finalAfterHoursOf(text = ''): string | undefined {
  const isInRange = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_FINAL_AFTER_HOURS;
  if (text === '' || isInRange) return text || undefined;
  throw new OperatorFault(
    `FINAL_AFTER_HOURS is "${text}". Set it to a number from 1 to ${MOST_FINAL_AFTER_HOURS}, or leave it out.`,
  );
}

function hasEdge(text = ''): boolean {
  if (!['', '0', '1'].includes(text))
    throw new OperatorFault(`DOWNLOADS_EDGE is "${text}". Set it to 1, or leave it out.`);
  return text === '1';
}

/** The partners of the file that PARTNERS names. Undefined if PARTNERS is not set. */
async function partnersOf(path: string | undefined): Promise<readonly LocalPartner[] | undefined> {
  if (!path) return undefined;
  try {
    return readPartners(await readFile(path, 'utf8'));
  } catch (error) {
    throw new OperatorFault(
      `PARTNERS: ${path} can't be used: ${(error as Error).message}. See docs/local.md, "Partners".`,
    );
  }
}

async function tryPort(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

async function faultOfPort(error: NodeJS.ErrnoException, port: number): Promise<never> {
  if (error.code === 'EADDRINUSE') {
    const other = await runningStack(LOCAL_DIR, String(port));
    const taken = other
      ? `: this service runs there already, as process ${other.pid}`
      : ': another program has it, or a stack of another LOCAL_DIR';
    throw new OperatorFault(
      `Port ${port} is busy${taken}. Set PORT to another one; PORT=0 takes a free one.`,
    );
  }
  if (error.code === 'EACCES' && error.syscall === 'listen')
    throw new OperatorFault(`Port ${port} may not be used by this user. Set PORT to one above 1023.`);
  throw error;
}

/** What the sample events' operator would set. */
const SAMPLE_SETTINGS = { CURRENCY: 'EUR', ACCESS_CONTACT: 'reports@example.com' };

/** Starts the stack. Resolves to what ends it and removes its files. */
async function start(): Promise<AsyncDisposable> {
  const [argument] = process.argv.slice(2);
  if (argument !== undefined)
    throw new OperatorFault(
      `npm start takes no arguments, such as "${argument}". Its settings are variables, such as PORT: docs/local.md.`,
    );
  const port = portOf(process.env['PORT']);
  const hasDownloadsEdge = hasEdge(process.env['DOWNLOADS_EDGE']);
  const finalAfterHours = finalAfterHoursOf(process.env['FINAL_AFTER_HOURS']);
  const partners = await partnersOf(process.env['PARTNERS']);
  await removeLeftovers(LOCAL_DIR);
  using told = repeatedProgress(showProgress(process.stdout));
  // The port is tried before the sample events are made, because making them takes long.
  await tryPort(port).catch((error) => faultOfPort(error, port));
  const { hasSampleEvents = false, ...engine } = await chooseEngine(told.onProgress);
  const { lastDay = async () => utcDay(Date.now()) } = engine;
  await using started = new AsyncDisposableStack();
  const run = await beginRun(LOCAL_DIR, () => {
    process.stderr.write(`${run.folder} is gone, and the service can't go on. Start it again.\n`);
    process.exitCode = 1;
    stop.abort();
  });
  started.defer(() => run.close());
  const stack = await startStack({
    ...engine,
    partners: partners ?? (hasSampleEvents ? PARTNERS_OF_SAMPLE_EVENTS : undefined),
    hasDownloadsEdge,
    functionEnv: {
      ...(hasSampleEvents && SAMPLE_SETTINGS),
      ...(finalAfterHours && { FINAL_AFTER_HOURS: finalAfterHours }),
    },
    directory: join(run.folder, 'stack'),
    port,
    throttling: THROTTLING,
  }).catch((error) => faultOfPort(error, port));
  started.defer(() => stack.close());
  const file = await writeStackFile(LOCAL_DIR, stack, run.owner);
  started.defer(() => rm(file.path, { force: true }));
  const settings = { LOCAL_DIR: process.env['LOCAL_DIR'] && resolve(LOCAL_DIR), PORT: file.port };
  process.stdout.write(`
Ready at ${stack.apiUrl}. Ctrl-C stops the service.

The page, where you build a report by looking: ${stack.apiUrl}/
Your own program: docs/clients.md. Your own events, partners and faults: docs/local.md. All documents: docs/README.md.
Addresses and credentials are in ${relative('', file.path)}.

A report in a shell, to paste:

${exampleCurl(stack.apiUrl, await lastDay(), settings)}

`);
  return started.move();
}

const DAY_MS = 86_400_000;

/**
 * A command for a POSIX shell in the directory of `npm start`, in one line. It fetches a token, and then the report of
 * the week that ends with `lastDay` (`YYYY-MM-DD`). `settings` are those that `npm run token` needs to find a stack
 * that is not the usual one.
 */
function exampleCurl(
  apiUrl: string,
  lastDay: string,
  settings: Readonly<Record<string, string | undefined>>,
): string {
  const end = Date.parse(`${lastDay}T00:00:00Z`) + DAY_MS;
  const query = [
    'requestedFields=Day,ServedAds,Opens,Clicks,Revenue',
    `startInclusive=${formatUtcTime(end - 7 * DAY_MS)}`,
    `endExclusive=${formatUtcTime(end)}`,
    'api-version=1.0',
  ];
  const named = Object.entries(settings).map(([name, value]) => (value ? `${name}='${value}' ` : ''));
  const token = `${named.join('')}npm run --silent token`;
  const url = `${apiUrl}${reportPath(publisherReport)}?${query.join('&')}`;
  return `curl -L -H "Authorization: Bearer $(${token})" '${url}'`;
}

type ChosenEngine = Pick<StackOptions, 'openEngine' | 'eventsDirectory' | 'lastDay'>;

/** The engine that the environment asks for: a Trino cluster, or DuckDB on EVENTS_DIR or on sample events. */
async function chooseEngine(
  onProgress: OnProgress,
): Promise<ChosenEngine & { readonly hasSampleEvents?: boolean }> {
  const own = process.env['EVENTS_DIR'];
  const cluster = await aboutSetting('TRINO_URL', () => clusterOf(process.env));
  if (cluster && own)
    throw new OperatorFault("TRINO_URL: can't be set beside EVENTS_DIR. Unset one of them.");
  if (cluster) return { openEngine: (place) => aboutSetting('TRINO_URL', () => trinoOn(cluster)(place)) };
  const eventsDirectory =
    own ||
    (await makeSampleEvents({
      directory: join(LOCAL_DIR, 'events'),
      onProgress: (done, total) => onProgress('Making sample events, once', done, total),
    }));
  // Warnings are about events that are served nevertheless.
  const onWarning = (line: string) => void process.stderr.write(`EVENTS_DIR: ${line}\n`);
  return {
    openEngine: (place) =>
      aboutSetting('EVENTS_DIR', () => duckDbOn(eventsDirectory, { onWarning, onProgress })(place)),
    eventsDirectory,
    hasSampleEvents: !own,
    lastDay: () => lastPartition(eventsDirectory),
  };
}

/** The newest day of all tables. A lake may hold only one of the tables. */
async function lastPartition(eventsDirectory: string): Promise<string> {
  const names = await Promise.all(
    tables.map(({ name }) => readdir(join(eventsDirectory, name)).catch((): string[] => [])),
  );
  const days = names.flat().filter((name) => name.startsWith(`${PARTITION_COLUMN}=`));
  return (
    days
      .sort()
      .at(-1)
      ?.slice(PARTITION_COLUMN.length + 1) ?? utcDay(Date.now())
  );
}

// A closed pipe or a full disk under the log must not end the service. Later lines are written again if they can be.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // The first signal closes the stack. A second one, or one before the stack is up, exits at once.
    if (stop.signal.aborted || !ready) process.exit(130);
    stop.abort();
  });

let ready = false;
await reportingFaults(async () => {
  await using _running = await start();
  ready = true;
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
});
