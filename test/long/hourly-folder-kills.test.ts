import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { spawnNode } from '../spawn-node.ts';
import { publisherRecord, writingFolder } from '../tools/make-parquet.ts';
import { runLake } from '../tools/run-lake.ts';

const RESTATEMENTS = 50;
const DAY = 'publisher_events/day=2026-01-31';

const { folder: home, writer } = await writingFolder();
const [raw, hours] = [join(home, 'raw'), join(home, 'hours')];
await mkdir(join(raw, DAY), { recursive: true });

/** Writes two records of one hour, each with `version` clicks, to a file that always has the same name. */
async function restate(version: number): Promise<void> {
  const record = publisherRecord({ clicks: `${version}::BIGINT` });
  await rm(join(raw, DAY, '_SUCCESS'), { force: true });
  await writer.file('made.parquet', `${record} UNION ALL ${record}`);
  await rename(join(home, 'made.parquet'), join(raw, DAY, 'part.parquet'));
  await writeFile(join(raw, DAY, '_SUCCESS'), '');
}

const command = () => ['hourly', '--from', raw, '--to', hours];

/**
 * Runs the command in a process of its own. If `killAfter` is given, the process is killed after this many changes.
 * Resolves to the exit code, or to null if the process was killed.
 */
async function start(killAfter?: number): Promise<number | null> {
  const child = spawnNode(
    ['--import', join(import.meta.dirname, 'kill-at-write.ts'), 'tools/lake.ts', ...command()],
    { env: { ...process.env, KILL_AFTER: String(killAfter), KILL_BELOW: hours } },
  );
  for (const output of [child.stdout, child.stderr]) output.resume();
  return (await once(child, 'exit'))[0];
}

/** The version of the day that a reader finds, and the one that the marker names. Undefined if there is no marker. */
async function look(): Promise<{ version: number; named: string } | undefined> {
  const marker = await readFile(join(hours, DAY, '_SUCCESS'), 'utf8').catch(() => undefined);
  if (marker === undefined) return undefined;
  const [[records, clicks] = []] = await writer.rows(
    `SELECT count(*)::INTEGER, sum(clicks)::INTEGER FROM read_parquet('${join(hours, DAY)}/*.parquet')`,
  );
  expect(records).toBe(1);
  return { version: Number(clicks) / 2, named: JSON.parse(marker).version };
}

it(`lake -- hourly in folders leaves hours of one whole version after a kill, and the latest version after the next run, for each of ${RESTATEMENTS} restatements`, async () => {
  const found: { version: number; named: string }[] = [];
  const names = new Map<string, number>();
  let kills = 0;
  let killAfter = 1;
  for (let version = 1; version <= RESTATEMENTS; version++) {
    await restate(version);
    const isKilled = (await start(killAfter)) === null;
    kills += isKilled ? 1 : 0;
    killAfter = isKilled ? killAfter + 1 : 1;
    found.push(...[await look()].filter((day) => day !== undefined));
    expect((await runLake(command())).code).toBe(0);
    const mended = await look();
    expect(mended?.version).toBe(version);
    names.set(mended?.named ?? '', version);
    expect(await readdir(join(hours, 'publisher_events'))).toEqual(['day=2026-01-31']);
  }
  expect(kills).toBeGreaterThan(RESTATEMENTS / 2);
  expect(found.length).toBeGreaterThan(RESTATEMENTS / 4);
  for (const { version, named } of found) expect(names.get(named)).toBe(version);
});
