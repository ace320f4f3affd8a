/** Runs DuckDB alone in a process of its own. It copies records into one file, sorted as in a day of the lake. */
import { DuckDBInstance } from '@duckdb/node-api';
import { publisherReport } from '../lib/report/catalogue.ts';
import { quoteText } from '../lib/report/quote-sql.ts';
import { tableOf } from '../lib/report/tables.ts';
import { daySelect } from '../tools/lake/day-file.ts';
import { duckDbMemory } from '../tools/lake/open-duckdb.ts';

const [reader = '', target = '', memory = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', {
  memory_limit: `${duckDbMemory(Number(memory))}B`,
  temp_directory: `${target}.spilled`,
});
const connection = await instance.connect();
const sorted = daySelect(tableOf(publisherReport), publisherReport, reader, false);
await connection.run(
  `COPY (SELECT * FROM ${reader} ${sorted.slice(sorted.indexOf('ORDER BY'))}) TO ${quoteText(target)} (FORMAT parquet, COMPRESSION zstd)`,
);
