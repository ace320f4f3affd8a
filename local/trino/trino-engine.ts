import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import {
  type Column,
  type ColumnType,
  PARTITION_COLUMN,
  type Table,
  tables,
} from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { type OpenEngine, type Query, QueryFailure } from '../athena/query-engine.ts';
import { bytesScannedIn, type Page, pagesOf, type TrinoCluster } from './trino-statement.ts';

/**
 * The number of queries that run at a time. It is the smallest quota of running queries that Athena gives an account.
 * A cluster has its own queue.
 */
const MAX_RUNNING = 20;

/**
 * Opens a Trino cluster (418 or later) as the engine. Rejects with an OperatorFault if it can't be reached or lacks
 * the tables.
 */
export const trinoOn =
  (cluster: TrinoCluster): OpenEngine =>
  async ({ scratchDirectory }) => {
    await checkTables(cluster);
    await mkdir(scratchDirectory, { recursive: true });
    return {
      maxRunning: MAX_RUNNING,
      close() {},
      async run(query) {
        const csvPath = join(scratchDirectory, `${query.id}.csv`);
        let last: Page = { stats: {} };
        async function* lines(): AsyncGenerator<string> {
          let named = false;
          for await (const page of pagesOf(cluster, statementOf(query), query.signal)) {
            last = page;
            if (page.columns && !named) yield csvLine(page.columns.map(({ name }) => name));
            named ||= page.columns !== undefined;
            if (page.data) yield page.data.map(csvLine).join('');
          }
        }
        // The file is opened before the pipeline: a stream might open it only after a failure has removed the file,
        // and so create it again.
        const file = await open(csvPath, 'w');
        try {
          await pipeline(lines, file.createWriteStream());
        } catch (error) {
          await rm(csvPath, { force: true });
          throw error;
        }
        return { csvPath, bytesScanned: bytesScannedIn(last) };
      },
    };
  };

/**
 * A query and its parameters as one statement. Refuses everything but a SELECT: the cluster belongs to the operator.
 */
function statementOf({ sql, parameters }: Query): string {
  if (!/^\s*(SELECT|WITH)\b/i.test(sql))
    throw new QueryFailure('SYNTAX_ERROR', 'line 1:1: Only a SELECT can run');
  const text = sql.replace(/;\s*$/, '');
  // As in Athena, parameters are left out if the statement takes none.
  if (parameters.length === 0 || !text.includes('?')) return text;
  // The line break ends a comment at the end of an expression. Without it, the comment would contain the bracket.
  const values = parameters.map((expression) => `(${expression}\n)`);
  return `EXECUTE IMMEDIATE ${quoteText(text)} USING ${values.join(', ')}`;
}

/**
 * A row in Athena's CSV. All values but NULL are quoted, quotes are doubled, and the line ends with LF. Numbers arrive
 * as text.
 */
const csvLine = (values: readonly unknown[]): string => `${values.map(csvValue).join(',')}\n`;

const csvValue = (value: unknown): string =>
  value === null ? '' : `"${String(value).replaceAll('"', '""')}"`;

/** The column types with which reports are exact to the last digit, by their names in Trino's protocol. */
const FITTING: Readonly<Record<ColumnType, RegExp>> = {
  timestamp: /^timestamp(\(\d+\))?$/,
  bigint: /^bigint$/,
  varchar: /^varchar(\(\d+\))?$/,
  'decimal(18,6)': /^decimal\(\d+, ?6\)$/,
};

/**
 * Checks that the cluster holds the tables of the data contract. Rejects with an OperatorFault that names what is
 * missing or wrong.
 */
async function checkTables(cluster: TrinoCluster): Promise<void> {
  for (const table of tables) {
    const columns: Pick<Column, 'name' | 'type'>[] = [
      ...table.columns,
      { name: PARTITION_COLUMN, type: 'varchar' },
    ];
    const found = await typesOf(cluster, table, columns);
    for (const [index, { name, type }] of columns.entries())
      if (!FITTING[type].test(found[index] ?? ''))
        throw new OperatorFault(
          `${table.name} holds ${name} as ${found[index]}; the data contract has ${type}.`,
        );
  }
}

async function typesOf(
  cluster: TrinoCluster,
  { name }: Table,
  columns: readonly Pick<Column, 'name'>[],
): Promise<string[]> {
  const names = columns.map((column) => quoteName(column.name)).join(', ');
  let types: string[] = [];
  try {
    for await (const page of pagesOf(cluster, `SELECT ${names} FROM ${name} LIMIT 0`))
      types = page.columns?.map(({ type }) => type) ?? types;
  } catch (error) {
    if (error instanceof QueryFailure)
      throw new OperatorFault(
        `${error.message}. Set TRINO_CATALOG and TRINO_SCHEMA to where the tables are.`,
      );
    const { message, cause } = error as Error;
    throw new OperatorFault(
      `${cluster.url} can't be asked: ${cause instanceof Error ? cause.message : message}`,
    );
  }
  return types;
}
