import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { EventsFault } from './events-fault.ts';

const PARTITION_NAME = `${PARTITION_COLUMN}=YYYY-MM-DD`;
const EXPECTED = `expected ${tables.map(({ name }) => `${name}/${PARTITION_NAME}/*.parquet`).join(' and ')}`;

/**
 * Checks that a directory is laid out as the data contract says, with at least one Parquet file per table.
 * Throws an EventsFault at the first thing that is not.
 */
export async function checkLayout(directory: string): Promise<void> {
  await checkDirectory(directory);
  for (const { name } of tables) {
    await checkDirectory(join(directory, name));
    await checkPartitions(join(directory, name));
  }
}

async function checkDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(unreadable(path));
  if (!found.isDirectory()) throw new EventsFault(`${path} is not a directory; ${EXPECTED}`);
}

const entriesOf = async (path: string): Promise<string[]> =>
  // Athena leaves hidden files and the writers' markers (`_SUCCESS`) out of a table.
  (await readdir(path).catch(unreadable(path))).filter((name) => !/^[._]/.test(name));

const unreadable = (path: string) => (error: NodeJS.ErrnoException) => {
  const reason = error.code === 'ENOENT' ? 'does not exist' : `can't be read (${error.code})`;
  throw new EventsFault(`${path} ${reason}; ${EXPECTED}`);
};

async function checkPartitions(table: string): Promise<void> {
  const partitions = await entriesOf(table);
  const stray = partitions.find((name) => !isPartition(name));
  if (stray) {
    throw new EventsFault(
      `${join(table, stray)} is no partition; a table holds only directories named ${PARTITION_NAME}`,
    );
  }
  let hasFiles = false;
  for (const name of partitions) {
    await checkDirectory(join(table, name));
    hasFiles ||= (await entriesOf(join(table, name))).some((file) => file.endsWith('.parquet'));
  }
  if (!hasFiles) throw new EventsFault(`${table} holds no Parquet files; ${EXPECTED}`);
}

const isPartition = (name: string): boolean =>
  name.startsWith(`${PARTITION_COLUMN}=`) && isDay(name.slice(PARTITION_COLUMN.length + 1));

const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  // The round trip refuses what Date.parse rolls over or completes: 2026-02-31, 2026-1-5.
  return !Number.isNaN(time) && new Date(time).toISOString() === `${text}T00:00:00.000Z`;
};
