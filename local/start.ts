/** `npm start`: the whole service on this machine, on sample events, on EVENTS_DIR or on a Trino cluster. */
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { chooseEngine } from './choose-engine.ts';
import { type LocalPartner, readPartners } from './clients.ts';
import { EventsFault } from './events/events-fault.ts';
import { makeSampleEvents } from './events/sample-events.ts';
import { exampleCurl } from './example-curl.ts';
import { type Stack, startStack } from './stack.ts';
import { TrinoFault } from './trino/trino-fault.ts';

/** Ten times a production stage's: more than a client should need, less than a client gone wild sends. */
const THROTTLING = { perSecond: 200, burst: 400 };

const home = process.env['LOCAL_DIR'] || join(import.meta.dirname, '..', '.local');
const stackFile = join(home, 'stack.json');
const say = (text: string) => process.stdout.write(`${text}\n`);

/** A message for the person at the terminal: what is wrong and what to do. */
class StartFault extends Error {}

function portOf(text = '8080'): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new StartFault(`PORT is "${text}". Set it to a number from 0 to 65535; 0 takes a free port.`);
}

/** The partners of the file that PARTNERS names; undefined without one. */
async function partnersOf(path: string | undefined): Promise<readonly LocalPartner[] | undefined> {
  if (!path) return undefined;
  try {
    return readPartners(await readFile(path, 'utf8'));
  } catch (error) {
    throw new StartFault(
      `PARTNERS: ${path} can't be used: ${(error as Error).message}. See docs/local.md, "Partners".`,
    );
  }
}

async function start(): Promise<Stack> {
  const port = portOf(process.env['PORT']);
  const partners = await partnersOf(process.env['PARTNERS']);
  // One that a killed run left behind would lead nowhere.
  await rm(stackFile, { force: true });
  const { openEngine, eventsDirectory, lastDay } = await chooseEngine(process.env, sampleEvents);
  await removeLeftovers();
  const directory = join(home, `run-${process.pid}`);
  const stack = await startStack({
    openEngine,
    eventsDirectory,
    partners,
    directory,
    port,
    lastDay,
    throttling: THROTTLING,
  }).catch((error) => {
    if (error.code === 'EADDRINUSE')
      throw new StartFault(`Port ${port} is busy. Set PORT to another one; PORT=0 takes a free one.`);
    if (error.code === 'EACCES' && error.syscall === 'listen')
      throw new StartFault(`Port ${port} may not be used by this user. Set PORT to one above 1023.`);
    throw error;
  });
  const { apiUrl, tokenUrl, clientId, clientSecret, scope, storageUrl, athenaUrl, faultsUrl } = stack;
  const { environment, clients } = stack;
  const facts = {
    apiUrl,
    tokenUrl,
    clientId,
    clientSecret,
    scope,
    storageUrl,
    athenaUrl,
    faultsUrl,
    clients,
    environment,
  };
  await writeFile(stackFile, `${JSON.stringify(facts, null, 2)}\n`);
  say(`\nReady at ${apiUrl}; addresses and credentials are in ${relative('', stackFile)}. Try:\n`);
  const curl = exampleCurl(stack, await lastDay(), process.env['LOCAL_DIR'] && resolve(home));
  say(`${curl}\n\nOr build it by looking: ${apiUrl}/ (Ctrl-C stops it.)\n`);
  return stack;
}

/** What a killed process could not remove any more. */
async function removeLeftovers(): Promise<void> {
  const names = await readdir(home).catch(() => []);
  const dead = names.filter((name) => /^run-\d+$/.test(name) && !isAlive(Number(name.slice('run-'.length))));
  await Promise.all(dead.map((name) => rm(join(home, name), { recursive: true, force: true })));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function sampleEvents(): Promise<string> {
  const bar = process.stdout.isTTY;
  const directory = join(home, 'events');
  return makeSampleEvents({
    directory,
    onProgress: (done, total) => {
      const width = 40;
      const filled = Math.round((done / total) * width);
      const line = `Making sample events, once: [${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done}/${total}`;
      if (bar) process.stdout.write(`\r${line}${done === total ? '\n' : ''}`);
      else if (done === 1 || done === total) say(line);
    },
  });
}

/** Names the variable that the fault is in; a StartFault does so itself. */
const variableOf = (fault: Error): string => {
  if (fault instanceof EventsFault) return 'EVENTS_DIR: ';
  return fault instanceof TrinoFault ? 'TRINO_URL: ' : '';
};

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // The first asks, the second insists; before the stack is up there is nothing to close.
    if (stop.signal.aborted || !ready) process.exit(130);
    stop.abort();
  });

let ready = false;
try {
  const stack = await start();
  ready = true;
  await once(stop.signal, 'abort');
  await stack.close();
  await rm(stackFile, { force: true });
} catch (error) {
  if (!(error instanceof StartFault || error instanceof EventsFault || error instanceof TrinoFault))
    throw error;
  process.stderr.write(`${variableOf(error)}${error.message}\n`);
  process.exitCode = 1;
}
