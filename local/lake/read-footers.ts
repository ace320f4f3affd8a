import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteText } from '../../lib/report/quote-sql.ts';
import type { ColumnStatistics, Footer } from './lake-facts.ts';

/** A Parquet file to read, by its path on this machine; `id` is the caller's own name for it. */
export interface LocalFile {
  readonly id: string;
  readonly path: string;
}

/**
 * Reads the footers of Parquet files. What can't be read maps to the reason.
 *
 * @param columns whose statistics are wanted, in lower case
 */
export async function readFooters(
  connection: DuckDBConnection,
  files: readonly LocalFile[],
  columns: readonly string[],
): Promise<Map<string, Footer | string>> {
  const footers = await footersOf(connection, files, columns).catch((error: Error) => error);
  if (!(footers instanceof Error)) return footers;
  // At least one of the files is broken. Reading them one by one tells which.
  const found = new Map<string, Footer | string>();
  for (const file of files) {
    const footer = await footersOf(connection, [file], columns).then(
      (alone) => alone.get(file.id) ?? 'it holds no columns',
      (error: Error) => error.message.split('\n', 1)[0] as string,
    );
    found.set(file.id, footer);
  }
  return found;
}

/** A path as a glob pattern that matches nothing else. */
export const literally = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]');

export const pathList = (files: readonly LocalFile[]): string =>
  `[${files.map(({ path }) => quoteText(literally(path))).join(', ')}]`;

async function footersOf(
  connection: DuckDBConnection,
  files: readonly LocalFile[],
  columns: readonly string[],
): Promise<Map<string, Footer>> {
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS();
  const paths = pathList(files);
  const schemaRows = (await read(
    `SELECT file_name, list(name ORDER BY column_id), list(coalesce(duckdb_type, 'nested') ORDER BY column_id),
            list(coalesce(num_children, 0) ORDER BY column_id)
     FROM parquet_schema(${paths}) GROUP BY file_name`,
  )) as [string, string[], string[], bigint[]][];
  const names = columns.map(quoteText).join(', ');
  const groupRows = (await read(
    `SELECT file_name, row_group_id, any_value(row_group_num_rows), list(DISTINCT compression)
     FROM parquet_metadata(${paths}) GROUP BY 1, 2 ORDER BY 1, 2`,
  )) as [string, bigint, bigint, string[]][];
  const statisticsRows = (await read(
    `SELECT file_name, lower(path_in_schema), list(stats_min_value ORDER BY row_group_id),
            list(stats_max_value ORDER BY row_group_id), list(stats_null_count ORDER BY row_group_id)
     FROM parquet_metadata(${paths}) WHERE lower(path_in_schema) IN (${names}) GROUP BY 1, 2`,
  )) as [string, string, (string | null)[], (string | null)[], (bigint | null)[]][];

  const groupsByPath = Map.groupBy(groupRows, ([path]) => path);
  const statisticsByPath = Map.groupBy(statisticsRows, ([path]) => path);
  const footers = schemaRows.map(([path, names, types, children]): [string, Footer] => {
    const columns = topLevel(children.map(Number));
    const lower = columns.map((index) => (names[index] as string).toLowerCase());
    const groups = groupsByPath.get(path) ?? [];
    return [
      path,
      {
        types: new Map(lower.map((name, nth) => [name, types[columns[nth] as number] as string])),
        doubledNames: [...new Set(lower.filter((name, index) => lower.indexOf(name) !== index))],
        rows: groups.reduce((sum, [, , rows]) => sum + Number(rows), 0),
        rowGroupRows: groups.map(([, , rows]) => Number(rows)),
        compression: [...new Set(groups.flatMap(([, , , codecs]) => codecs))],
        statistics: new Map(
          (statisticsByPath.get(path) ?? []).map(([, name, min, max, nulls]): [string, ColumnStatistics] => [
            name,
            {
              min: min.map((value) => value ?? undefined),
              max: max.map((value) => value ?? undefined),
              nulls: nulls.map((value) => (value === null ? undefined : Number(value))),
            },
          ]),
        ),
      },
    ];
  });
  const idByPath = new Map(files.map(({ id, path }) => [path, id]));
  return new Map(footers.map(([path, footer]) => [idByPath.get(path) ?? path, footer]));
}

/**
 * The places of the columns in a Parquet schema, which lists the root and then each element before its children: a
 * list's or a struct's parts are no columns of the table.
 */
function topLevel(children: readonly number[]): number[] {
  const columns: number[] = [];
  for (let at = 1; at < children.length; at++) {
    columns.push(at);
    for (let below = children[at] as number; below > 0; below--) below += children[++at] as number;
  }
  return columns;
}
