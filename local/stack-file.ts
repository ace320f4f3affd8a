import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stack } from './stack.ts';

/** The directory for all files that `npm start` makes. */
export const LOCAL_DIR = process.env['LOCAL_DIR'] || join(import.meta.dirname, '..', '.local');

/** The facts about a running stack: addresses, credentials and its process. */
export type StackFacts = Pick<
  Stack,
  | 'apiUrl'
  | 'tokenUrl'
  | 'clientId'
  | 'clientSecret'
  | 'scope'
  | 'storageUrl'
  | 'athenaUrl'
  | 'faultsUrl'
  | 'clients'
  | 'environment'
> & { readonly pid: number };

const FIRST = 'stack.json';
const FILE = /^stack(-\d+)?\.json$/;

const portOf = ({ apiUrl }: Pick<StackFacts, 'apiUrl'>): string => new URL(apiUrl).port;

/**
 * The file with a stack's facts: `stack.json` for the first running stack, `stack-<port>.json` for each further one.
 */
export interface StackFile {
  readonly path: string;
  /** The PORT that `npm run token` needs to find this stack. Undefined if it finds the stack without PORT. */
  readonly port: string | undefined;
}

/** Writes a stack's file. The files of other stacks stay as they are. */
export async function writeStackFile(home: string, facts: StackFacts): Promise<StackFile> {
  const text = `${JSON.stringify(facts, null, 2)}\n`;
  const first = join(home, FIRST);
  try {
    await writeFile(first, text, { flag: 'wx' });
    return { path: first, port: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const port = portOf(facts);
  const path = join(home, `stack-${port}.json`);
  await writeFile(path, text);
  return { path, port };
}

async function readFacts(path: string): Promise<StackFacts | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The running stacks. The stack with `stack.json` comes first. */
async function runningStacks(home: string): Promise<StackFacts[]> {
  const names = (await readdir(home).catch(() => [])).filter((name) => FILE.test(name));
  names.sort((a, b) => a.length - b.length);
  const found = await Promise.all(names.map((name) => readFacts(join(home, name))));
  return found.filter((facts) => facts !== undefined).filter(({ pid }) => isAlive(pid));
}

/**
 * The stack that runs at a port. If no port or port 0 is named, the first running stack. Undefined if there is no such
 * stack.
 */
export async function runningStack(home: string, port?: string): Promise<StackFacts | undefined> {
  const stacks = await runningStacks(home);
  return !port || port === '0' ? stacks[0] : stacks.find((facts) => portOf(facts) === port);
}

/** Removes the files and directories that killed processes could not remove. */
export async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home).catch(() => []);
  const left = await Promise.all(
    names.map(async (name) => {
      const run = /^run-(\d+)$/.exec(name)?.[1];
      if (run !== undefined) return !isAlive(Number(run));
      if (!FILE.test(name)) return false;
      // A file that can't be read may belong to another stack, which is writing it at this moment.
      const facts = await readFacts(join(home, name));
      return facts !== undefined && !isAlive(facts.pid);
    }),
  );
  const dead = names.filter((_, index) => left[index]);
  await Promise.all(dead.map((name) => rm(join(home, name), { recursive: true, force: true })));
}

/** Whether a process of this machine is running. */
export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
