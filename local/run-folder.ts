/** The folder of one run of `npm start`, `run-<id>`, and whether a run still goes on. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Who runs: the run's random id, its process, and where that process is. */
export interface Owner {
  readonly run: string;
  readonly pid: number;
  /** When the process started: a later process may get the same `pid`. */
  readonly started: string;
  readonly place: string;
}

export interface Run {
  readonly owner: Owner;
  /** The folder for the run's own files. Only its owner can read it. */
  readonly folder: string;
  close(): Promise<void>;
}

/** How often a run shows that it goes on. */
const BEAT_MS = 5_000;

/** A run in another place that has not shown itself for this time is over. */
const SILENT_MS = 120_000;

const RUN = /^run-([\da-f]{16})$/;
const OWNER_FILE = 'owner.json';

export const folderOf = (home: string, run: string): string => join(home, `run-${run}`);

/** The id of the run that a folder of this name belongs to. */
export const runOf = (name: string): string | undefined => RUN.exec(name)?.[1];

/**
 * Begins a run. Its file `owner.json` is touched every few seconds, because containers may share `home` and can't see
 * each other's processes.
 *
 * @param onLost called once the folder is gone, or belongs to another run
 */
export async function beginRun(home: string, onLost: () => void, everyMs = BEAT_MS): Promise<Run> {
  const owner = thisProcess(randomBytes(8).toString('hex'));
  const folder = folderOf(home, owner.run);
  await mkdir(home, { recursive: true });
  await mkdir(folder, { mode: 0o700 });
  const file = join(folder, OWNER_FILE);
  await writeFile(file, JSON.stringify(owner));
  const beat = async () => {
    if ((await ownerOf(home, owner.run))?.run !== owner.run) throw new Error(`${folder} is gone`);
    await utimes(file, new Date(), new Date());
  };
  const timer = setInterval(() => {
    beat().catch(() => {
      clearInterval(timer);
      onLost();
    });
  }, everyMs).unref();
  return {
    owner,
    folder,
    async close() {
      clearInterval(timer);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The owner of a run, as its folder names it. Undefined if the folder does not say. */
export async function ownerOf(home: string, run: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(join(folderOf(home, run), OWNER_FILE), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Whether the process of a run is one of this place, and still runs. */
export const isHere = ({ pid, started, place }: Owner): boolean =>
  place === thisPlace && isAlive(pid) && ['', started].includes(startOf(pid));

/** Whether a run is over. A run in another place is over if its folder has not been touched for two minutes. */
export async function isOver(home: string, run: string, owner: Owner | undefined): Promise<boolean> {
  if (owner?.place === thisPlace) return !isHere(owner);
  const folder = folderOf(home, run);
  const touched = await stat(join(folder, OWNER_FILE)).catch(() => stat(folder).catch(() => undefined));
  return !touched || touched.mtimeMs < Date.now() - SILENT_MS;
}

/** Whether a process of this place is running. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The start of a process, in ticks since the machine's. Empty if this system doesn't tell. */
function startOf(pid: number): string {
  return tryTo(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '');
}

function tryTo(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** This machine and, on Linux, this container's own numbering of processes. */
export const thisPlace = createHash('sha256')
  .update(`${hostname()} ${tryTo(() => readlinkSync('/proc/self/ns/pid'))}`)
  .digest('hex')
  .slice(0, 8);

export const thisProcess = (run: string): Owner => ({
  run,
  pid: process.pid,
  started: startOf(process.pid),
  place: thisPlace,
});
