import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { quoteText } from '../../lib/report/quote-sql.ts';
import type { OpenEngine, Query } from '../athena/query-engine.ts';
import { QueryFailure } from '../athena/query-failure.ts';
import { checkTables } from './check-tables.ts';
import type { TrinoCluster } from './trino-cluster.ts';
import { bytesScannedIn, type Page, pagesOf } from './trino-statement.ts';

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
        return {
          csvPath,
          bytesScanned: bytesScannedIn(last),
          planningMs: Number(last.stats['planningTimeMillis'] ?? 0),
        };
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
