import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { publisherReport } from '../lib/report/catalogue.ts';
import { PARTITION_COLUMN, TIME_COLUMN, tables } from '../lib/report/tables.ts';
import { makeSampleEvents } from '../local/events/sample-events.ts';
import { EMPTY_TABLE } from '../tools/lake/store/lake-target.ts';
import { DENSE, makeGrowthLakes } from './growth-events.ts';
import { recordsAtMost } from './size.ts';

/** A lake to check, and its title in the table. */
export interface CheckLake {
  readonly title: string;
  readonly directory: string;
}

const SAMPLE_RECORDS = recordsAtMost(1_000_000);
const FILES_A_DAY = 8;
const RECORDS = recordsAtMost(20_000_000);

/** Makes three lakes: many small files, one file of raw events a day, and one file of their hourly records a day. */
export async function makeCheckLakes(directory: string): Promise<readonly CheckLake[]> {
  const many = await makeMany(directory);
  const { raw, hourly } = await makeGrowthLakes(directory, RECORDS, DENSE);
  for (const lake of [raw, hourly])
    for (const { name } of tables.filter((table) => table.name !== publisherReport.table)) {
      await mkdir(join(lake, name));
      await writeFile(join(lake, name, EMPTY_TABLE), '');
    }
  return [
    { title: `59 days of two tables, ${FILES_A_DAY} files each`, directory: many },
    { title: `32 days of ${RECORDS / 1e6} million raw events`, directory: raw },
    { title: 'their hours', directory: hourly },
  ];
}

async function makeMany(directory: string): Promise<string> {
  const events = await makeSampleEvents({ directory: join(directory, 'events'), records: SAMPLE_RECORDS });
  const many = join(directory, 'many');
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  for (const { name } of tables) {
    await mkdir(join(many, name), { recursive: true });
    for (let file = 0; file < FILES_A_DAY; file++)
      await connection.run(
        `COPY (SELECT * FROM read_parquet('${events}/${name}/*/*.parquet', hive_partitioning = true, hive_types = {day: VARCHAR})
               WHERE hash(${TIME_COLUMN}) % ${FILES_A_DAY} = ${file})
         TO '${join(many, name)}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (${PARTITION_COLUMN}),
           FILENAME_PATTERN 'part-${file}-{i}', OVERWRITE_OR_IGNORE)`,
      );
  }
  connection.closeSync();
  instance.closeSync();
  return many;
}
