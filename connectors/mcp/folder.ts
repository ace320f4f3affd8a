/** The folder of the reports: the user's alone, and emptied after a day. */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Failure } from './answer.ts';

/** A report in the folder: what every answer says of it, in words, and the versions of its days. */
export interface Pulled {
  readonly owner: string;
  readonly report: string;
  readonly table: string;
  readonly pulledAt: string;
  readonly window: readonly [startInclusive: string, endExclusive: string];
  readonly versions: Readonly<Record<string, string>>;
  readonly facts: Readonly<Record<string, string>>;
}

const KEPT_MS = 86_400_000;
const SWEEP_MS = 600_000;
/** The names of tables. Their folders have the same names. */
const TABLE = /\b\w{1,60}_[0-9a-f]{8}\b/g;

/** Makes the folder, and empties it now and again. Throws a Failure if it is, or may be, somebody else's. */
export async function openFolder(): Promise<string> {
  process.umask(0o077);
  const folder = join(tmpdir(), `performance-reports-mcp-${userInfo().username}`);
  await mkdir(folder, { recursive: true });
  const found = await lstat(folder);
  if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid()))
    throw new Failure(`${folder} is not a folder of yours. Remove it, or set TMPDIR to another folder.`);
  await chmod(folder, 0o700);
  const sweep = async () => {
    for (const name of await readdir(folder)) {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      if (found && found.mtimeMs < Date.now() - KEPT_MS)
        await rm(join(folder, name), { recursive: true, force: true });
    }
  };
  await sweep();
  setInterval(() => sweep().catch(() => undefined), SWEEP_MS).unref();
  return folder;
}

type Make = (making: string, table: string) => Promise<Pulled>;

/** Runs `make` in a folder that gets its name, and so is seen, when it is complete. */
export async function addReport(folder: string, report: string, make: Make): Promise<Pulled> {
  const table = `${report.toLowerCase()}_${randomBytes(4).toString('hex')}`;
  const making = join(folder, `.${table}`);
  await mkdir(making);
  try {
    const pulled = await make(making, table);
    await writeFile(join(making, 'report.json'), JSON.stringify(pulled));
    await rename(making, join(folder, table));
    return pulled;
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** The reports of a client, the latest first: all, or those whose tables an SQL text names. */
export async function reportsIn(folder: string, owner: string, sql?: string): Promise<readonly Pulled[]> {
  const named: readonly string[] = sql?.toLowerCase().match(TABLE) ?? [];
  const isMeant = (name: string) => !name.startsWith('.') && (sql === undefined || named.includes(name));
  const names = (await readdir(folder)).filter(isMeant);
  const read = (name: string) => readFile(join(folder, name, 'report.json'), 'utf8').catch(() => '{}');
  const reports = (await Promise.all(names.map(read))).map((text): Pulled => JSON.parse(text));
  const mine = reports.filter((report) => report.owner === owner);
  return mine.sort((a, b) => b.pulledAt.localeCompare(a.pulledAt));
}
