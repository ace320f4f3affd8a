/** The process of DuckDB: takes one job, replies, and ends. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { checkSql } from './allowed-sql.ts';
import { dataCell, Failure, MOST_CHARACTERS, shown, type Table } from './answer.ts';
import type { Job, Reply } from './engine.ts';

/** DuckDB counts only its buffers, so the whole process is watched, too: with the server it stays below 400 MB. */
const QUERY_BYTES = 225 * 2 ** 20;
const LOAD_BYTES = 250 * 2 ** 20;
const SETTINGS = {
  memory_limit: '64MiB',
  threads: '1',
  max_temp_directory_size: '16GiB',
  allow_community_extensions: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};
const MOST_COLUMNS = 100;
/** Types that hold no text. */
const PLAIN = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\d+\)|FLOAT|DOUBLE|BOOLEAN|DATE)$/;

function cellOf(value: unknown, type: string): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'TIMESTAMP') return String(value).replace(/ (.*)/, 'T$1Z');
  return PLAIN.test(type) ? String(value) : dataCell(String(value));
}

/** The first rows that can fit into an answer. All others are only counted. */
async function tableOf(connection: DuckDBConnection, sql: string): Promise<Table> {
  const result = await connection.stream(sql);
  const [names, types] = [result.columnNames(), result.columnTypes().map(String)];
  if (types.length > MOST_COLUMNS) throw new Failure(`More than ${MOST_COLUMNS} columns. Name fewer.`);
  const columns = types.map((type, nth) => ({ name: shown(names[nth], 80), type: shown(type, 80) }));
  const rows: Table['rows'] = [];
  let [rowsInAll, characters] = [0, 0];
  for await (const chunk of result) {
    for (let row = 0; row < chunk.rowCount && characters < MOST_CHARACTERS; row++) {
      const cells = chunk.getRowValues(row).map((value, nth) => cellOf(value, types[nth] ?? ''));
      characters += JSON.stringify(cells).length;
      rows.push(cells);
    }
    rowsInAll += chunk.rowCount;
    // A chunk's memory is DuckDB's, and free only when the garbage is collected.
    if (rowsInAll % 40_960 < chunk.rowCount) globalThis.gc?.();
  }
  return { columns, rows, rowsInAll };
}

async function run({ database, before, selects, tables }: Job, spill: string): Promise<Reply> {
  const instance = await DuckDBInstance.create(database, { ...SETTINGS, temp_directory: spill });
  const connection = await instance.connect();
  const locks = ['SET enable_external_access = false', 'SET lock_configuration = true'];
  for (const sql of ["SET TimeZone = 'UTC'", ...before, ...(tables ? locks : [])]) await connection.run(sql);
  const found: Table[] = [];
  for (const sql of selects) {
    const tree = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
    if (tables) checkSql(String(tree.getRows()[0]?.[0]), tables);
    found.push(await tableOf(connection, sql));
  }
  return { tables: found };
}

// DuckDB's binding decodes texts with a TextDecoder that drops a byte order mark, so that two texts would look the same.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const { decode } = decoder;
TextDecoder.prototype.decode = (bytes) => decode.call(decoder, bytes);

process.umask(0o077);
/** `process.exit` would wait for DuckDB's threads. */
const end = () => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', end);
process.once('message', async ({ job, spill }: { readonly job: Job; readonly spill: string }) => {
  const most = job.tables ? QUERY_BYTES : LOAD_BYTES;
  setInterval(() => process.memoryUsage.rss() > most && end(), 10);
  // An error of DuckDB may quote a text of the traffic.
  const faultOf = (error: Error) => ({
    fault: error instanceof Failure ? error.message : shown(error.message, 600),
  });
  process.send?.(await run(job, spill).catch(faultOf), end);
});
