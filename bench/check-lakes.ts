import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { dayFolder } from '../lake-check/layout.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { PARTITION_COLUMN, type Table, TIME_COLUMN, tables } from '../lib/report/tables.ts';
import { makeSampleEvents } from '../local/events/sample-events.ts';
import { dayCopy, daySelect } from '../tools/lake/day-file.ts';
import { EMPTY_TABLE } from '../tools/lake/store/lake-target.ts';

/** A lake to check, and its title in the table. */
export interface CheckLake {
  readonly title: string;
  readonly directory: string;
}

const RECORDS = 1_000_000;
const FILES_A_DAY = 8;
const TIMES_AS_MANY = 20;
const DAY = '2026-01-01';

/** Makes three lakes: many small files, one large file of raw events, and one file of their hourly records. */
export async function makeCheckLakes(directory: string): Promise<readonly CheckLake[]> {
  const events = await makeSampleEvents({ directory: join(directory, 'events'), records: RECORDS });
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: join(directory, 'spilled') });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const lake = (name: string) => join(directory, name);
    for (const table of tables) await writeMany(connection, events, table, lake('many'));
    await writeLarge(connection, events, lake('large'), lake('hourly'));
    return [
      { title: `59 days of two tables, ${FILES_A_DAY} files each`, directory: lake('many') },
      { title: 'one file of 20 million raw events', directory: lake('large') },
      { title: 'one file of their hours', directory: lake('hourly') },
    ];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function writeMany(
  connection: DuckDBConnection,
  events: string,
  { name }: Table,
  directory: string,
): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  for (let file = 0; file < FILES_A_DAY; file++)
    await connection.run(
      `COPY (SELECT * FROM read_parquet('${events}/${name}/*/*.parquet', hive_partitioning = true, hive_types = {day: VARCHAR})
             WHERE hash(${TIME_COLUMN}) % ${FILES_A_DAY} = ${file})
       TO '${join(directory, name)}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (${PARTITION_COLUMN}),
         FILENAME_PATTERN 'part-${file}-{i}', OVERWRITE_OR_IGNORE)`,
    );
}

/** Writes two lakes of one day: one has each event of a table several times, the other has their hourly records. */
async function writeLarge(
  connection: DuckDBConnection,
  events: string,
  raw: string,
  hourly: string,
): Promise<void> {
  const table = tables.find(({ name }) => name === publisherReport.table) as Table;
  const rawDay = join(raw, dayFolder(table.name, DAY));
  // DuckDB makes the day's folder of the hourly lake itself.
  const hourlyDay = join(hourly, dayFolder(table.name, DAY));
  for (const [directory, day] of [
    [raw, rawDay],
    [hourly, join(hourlyDay, '..')],
  ] as const) {
    await mkdir(day, { recursive: true });
    for (const { name } of tables.filter((other) => other !== table)) {
      await mkdir(join(directory, name));
      await writeFile(join(directory, name, EMPTY_TABLE), '');
    }
  }
  const repeated = `(SELECT * REPLACE (CAST(TIMESTAMP '${DAY}' + to_milliseconds((hash(n, ${TIME_COLUMN}) % 86400000)::BIGINT) AS TIMESTAMP_MS) AS ${TIME_COLUMN})
     FROM read_parquet('${events}/${table.name}/*/*.parquet', hive_partitioning = false), range(${TIMES_AS_MANY}) AS times(n))`;
  await connection.run(
    `COPY ${repeated} TO '${join(rawDay, 'events.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
  );
  const select = daySelect(table, publisherReport, repeated, true);
  await connection.run(dayCopy(select, RECORDS, hourlyDay));
}
