import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHere, isOver, type Owner, ownerOf, runOf } from './run-folder.ts';
import type { Stack } from './stack.ts';

/** The directory for all files that `npm start` makes. */
export const LOCAL_DIR = process.env['LOCAL_DIR'] || join(import.meta.dirname, '..', '.local');

const FACTS = [
  ...(['apiUrl', 'tokenUrl', 'clientId', 'clientSecret', 'scope', 'storageUrl', 'athenaUrl'] as const),
  ...(['faultsUrl', 'clients', 'environment'] as const),
];

/** The facts about a running stack: addresses, credentials and its run. */
export type StackFacts = Pick<Stack, (typeof FACTS)[number]> & Owner;

const FIRST = 'stack.json';
const FILE = /^stack(-\d+)?(-[\da-f]{16})?\.json$/;

const portOf = ({ apiUrl }: Pick<StackFacts, 'apiUrl'>): string => new URL(apiUrl).port;

/**
 * Writes a stack's file, which only its owner can read: `stack.json` for the first running stack, `stack-<port>.json`
 * for each further one. Resolves to its path, and to the PORT that `npm run token` needs to find this stack, if any.
 */
export async function writeStackFile(
  home: string,
  stack: Pick<Stack, (typeof FACTS)[number]>,
  owner: Owner,
): Promise<{ readonly path: string; readonly port: string | undefined }> {
  const facts = Object.fromEntries(FACTS.map((name) => [name, stack[name]]));
  const text = `${JSON.stringify({ ...facts, ...owner }, null, 2)}\n`;
  const port = portOf(stack);
  // Stacks in several containers may have the same port.
  for (const name of [FIRST, `stack-${port}.json`, `stack-${port}-${owner.run}.json`])
    try {
      const path = join(home, name);
      await writeFile(path, text, { flag: 'wx', mode: 0o600 });
      return { path, port: name === FIRST ? undefined : port };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  throw new Error(`${home} has a file of this run already`);
}

/** Undefined if the file can't be read. */
const readFacts = (path: string): Promise<StackFacts | undefined> =>
  readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);

/**
 * The stack that runs in this place at a port. If no port or port 0 is named, the first running stack. Undefined if
 * there is no such stack.
 */
export async function runningStack(home: string, port?: string): Promise<StackFacts | undefined> {
  const names = (await readdir(home).catch(() => [])).filter((name) => FILE.test(name));
  // The stack with `stack.json` comes first.
  names.sort((a, b) => a.length - b.length);
  const files = await Promise.all(names.map((name) => readFacts(join(home, name))));
  const stacks = files.filter((facts) => facts !== undefined).filter(isHere);
  return !port || port === '0' ? stacks[0] : stacks.find((facts) => portOf(facts) === port);
}

/** Removes the files and directories that killed processes could not remove. */
export async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home).catch(() => []);
  const left = await Promise.all(
    names.map(async (name) => {
      const run = runOf(name);
      if (run !== undefined) return isOver(home, run, await ownerOf(home, run));
      if (!FILE.test(name)) return false;
      // A file that can't be read may belong to another stack, which is writing it at this moment.
      const facts = await readFacts(join(home, name));
      return facts !== undefined && isOver(home, facts.run, facts);
    }),
  );
  const dead = names.filter((_, index) => left[index]);
  await Promise.all(dead.map((name) => rm(join(home, name), { recursive: true, force: true })));
}
