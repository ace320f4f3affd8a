/** The folder of one run of `npm start`, `run-<id>`, and whether a run still goes on. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';

/** Who runs: the run's random id, its process, and where that process is. */
export interface Owner {
  readonly run: string;
  readonly pid: number;
  /** When the process started: a later process may get the same `pid`. */
  readonly started: string;
  readonly place: string;
}

const BEAT_MS = 5_000;

/** A run in another place that has not shown itself for this time is over. */
const SILENT_MS = 120_000;

export const folderOf = (home: string, run: string): string => join(home, `run-${run}`);

/** The id of the run that a folder of this name belongs to. */
export const runOf = (name: string): string | undefined => /^run-([\da-f]{16})$/.exec(name)?.[1];

const fileIn = (folder: string): string => join(folder, 'owner.json');

/**
 * Begins a run. Its file `owner.json` is touched every few seconds, because containers may share `home` and can't see
 * each other's processes. Only its owner can read the folder.
 *
 * @param onLost called once the folder is gone, or belongs to another run
 */
export async function beginRun(home: string, onLost: () => void, everyMs = BEAT_MS) {
  const owner = thisProcess(randomBytes(8).toString('hex'));
  const folder = folderOf(home, owner.run);
  await mkdir(home, { recursive: true });
  await mkdir(folder, { mode: 0o700 });
  await writeFile(fileIn(folder), JSON.stringify(owner));
  const ended = new AbortController();
  const beat = async () => {
    for await (const _ of setInterval(everyMs, undefined, { ref: false, signal: ended.signal })) {
      const isOurs = (await ownerOf(home, owner.run))?.run === owner.run;
      const isGone = !isOurs || (await utimes(fileIn(folder), new Date(), new Date()).catch(() => true));
      // The run may have ended meanwhile, and removed its folder itself.
      if (isGone) return ended.signal.aborted ? undefined : onLost();
    }
  };
  // It rejects when the run ends.
  beat().catch(() => {});
  return {
    owner,
    folder,
    close(): Promise<void> {
      ended.abort();
      return rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The owner of a run, as its folder names it. Undefined if the folder does not say. */
export const ownerOf = (home: string, run: string): Promise<Owner | undefined> =>
  readFile(fileIn(folderOf(home, run)), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);

/** Whether the process of a run is one of this place, and still runs. */
export const isHere = ({ pid, started, place }: Owner): boolean =>
  place === thisPlace && isAlive(pid) && ['', started].includes(startOf(pid));

/** Whether a run is over. A run in another place is over if its folder has not been touched for two minutes. */
export async function isOver(home: string, run: string, owner: Owner | undefined): Promise<boolean> {
  if (owner?.place === thisPlace) return !isHere(owner);
  const folder = folderOf(home, run);
  const touched = await stat(fileIn(folder)).catch(() => stat(folder).catch(() => undefined));
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

/** What Linux tells of a process. Empty if this system doesn't tell. */
function told(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** The start of a process, in ticks since the machine's. */
const startOf = (pid: number): string =>
  told(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '');

const numbering = told(() => readlinkSync('/proc/self/ns/pid'));

/** This machine and, on Linux, this container's own numbering of processes. */
export const thisPlace = createHash('sha256').update(`${hostname()} ${numbering}`).digest('hex').slice(0, 8);

export const thisProcess = (run: string): Owner => {
  const { pid } = process;
  return { run, pid, started: startOf(pid), place: thisPlace };
};
