/** The process of DuckDB: does the job in its environment, and prints the results or the fault, as JSON. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { dataCell, inert, MOST_CHARACTERS, type Table } from './answer.ts';
import { type Job, sqlText } from './engine.ts';

/** DuckDB counts only its buffers, so the whole process is watched: with the server it stays below 400 MB. */
const MOST_BYTES = 235 * 2 ** 20;
const SETTINGS = { memory_limit: '72MiB', threads: '1', max_temp_directory_size: '16GiB' };
/** Types that hold no text. */
const PLAIN = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\d+\)|FLOAT|DOUBLE|BOOLEAN|DATE)$/;
/** Others could set something, such as a log in a file, or run a text as SQL. */
const TABLE_FUNCTIONS = ['generate_series', 'range', 'unnest'];

/** Throws unless the statement is one SELECT, by what DuckDB's parser makes of it. */
async function checkSql(connection: DuckDBConnection, sql: string): Promise<void> {
  const faults: string[] = [];
  const tree = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  const { statements, error_message: fault } = JSON.parse(String(tree.getRows()[0]), (_, node) => {
    const name = String(node?.function?.function_name ?? '');
    const isForeign = node?.type === 'TABLE_FUNCTION' && !TABLE_FUNCTIONS.includes(name.toLowerCase());
    if (isForeign || node?.function_name === 'current_setting' || node?.schema_name)
      faults.push(`${name || 'that'} reads no table of yours.`);
    return node;
  });
  if (statements?.length !== 1) faults.push(fault ?? 'DuckDB finds no single one.');
  if (faults.length > 0)
    throw new Error(`A query is one SELECT over tables that report has made, and nothing else: ${faults[0]}`);
}

function cellOf(value: unknown, type: string): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'TIMESTAMP') return String(value).replace(/ (.*)/, 'T$1Z');
  return PLAIN.test(type) ? String(value) : dataCell(String(value));
}

/** The first rows of a SELECT that can fit into an answer. All others are only counted. */
async function tableOf(connection: DuckDBConnection, sql: string): Promise<Table> {
  await checkSql(connection, sql);
  const result = await connection.stream(sql);
  const types = result.columnTypes().map(String);
  const rounded = types.map((type) => (/DOUBLE|FLOAT/.test(type) ? ' (ROUNDED)' : ''));
  const columns = result.columnNames().map((name, nth) => inert(name, 80) + rounded[nth]);
  const rows: Table['rows'] = [];
  let [rowsInAll, characters] = [0, 0];
  for await (const chunk of result) {
    for (let row = 0; row < chunk.rowCount && characters < MOST_CHARACTERS; row++) {
      const cells = chunk.getRowValues(row).map((value, nth) => cellOf(value, types[nth] ?? ''));
      characters += JSON.stringify(cells).length;
      rows.push(cells);
    }
    rowsInAll += chunk.rowCount;
    // A chunk's memory is DuckDB's, and free only when the garbage is collected: after every 20 chunks of 2,048 rows.
    if (rowsInAll % 40_960 < chunk.rowCount) globalThis.gc?.();
  }
  return { columns, rows, rowsInAll };
}

async function run({ before, tables, selects, spill }: Job & { readonly spill: string }) {
  const instance = await DuckDBInstance.create(':memory:', { ...SETTINGS, temp_directory: spill });
  const connection = await instance.connect();
  const views = Object.entries(tables).map(([name, file]) => `CREATE VIEW ${name} AS FROM ${sqlText(file)}`);
  const paths = `SET allowed_paths = [${Object.values(tables).map(sqlText)}]`;
  const locks = [paths, 'SET enable_external_access = false', 'SET lock_configuration = true'];
  for (const sql of ["SET TimeZone = 'UTC'", ...before, ...views, ...locks]) await connection.run(sql);
  const results: Table[] = [];
  for (const sql of selects) results.push(await tableOf(connection, sql));
  return { results };
}

// DuckDB's binding decodes texts with a TextDecoder that drops a byte order mark, so that two texts would look the same.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const { decode } = decoder;
TextDecoder.prototype.decode = (bytes) => decode.call(decoder, bytes);

const end = () => process.kill(process.pid, 'SIGKILL');
setInterval(() => process.memoryUsage.rss() > MOST_BYTES && end(), 10);
// It ends with the server.
process.stdin.on('end', end).resume();
const reply = await run(JSON.parse(String(process.env['JOB']))).catch(({ message }: Error) =>
  // An error of DuckDB may quote a text of the traffic.
  message.startsWith('Out of Memory') ? end() : { fault: inert(message, 600) },
);
process.stdout.write(JSON.stringify(reply), () => process.exit());
