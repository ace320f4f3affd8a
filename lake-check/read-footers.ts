import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteText } from '../lib/report/quote-sql.ts';
import type { ColumnStatistics, Footer } from './lake-facts.ts';

/** A Parquet file to read, by its path on this machine; `id` is the caller's own name for it. */
export interface LocalFile {
  readonly id: string;
  readonly path: string;
}

/**
 * Reads the footers of Parquet files. A file that can't be read maps to the reason.
 *
 * @param columns the columns whose statistics are wanted, in lower case
 */
export async function readFooters(
  connection: DuckDBConnection,
  files: readonly LocalFile[],
  columns: readonly string[],
): Promise<Map<string, Footer | string>> {
  const footers = await footersOf(connection, files, columns).catch((error: Error) => error);
  if (!(footers instanceof Error)) return footers;
  // At least one of the files is broken. Reading them one by one shows which.
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

/** A path as a glob pattern that matches only this path. */
export const escapeGlob = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]');

export const pathList = (files: readonly LocalFile[]): string =>
  `[${files.map(({ path }) => quoteText(escapeGlob(path))).join(', ')}]`;

/** Name, DuckDB's name for the type, and number of children. */
type SchemaElement = [name: string, type: string, children: string];

/**
 * Name, lowest and highest value, and number of NULLs of a column in a row group. A value that the footer lacks is
 * null.
 */
type GroupStatistics = [name: string, min: string | null, max: string | null, nulls: string | null];

async function footersOf(
  connection: DuckDBConnection,
  files: readonly LocalFile[],
  columns: readonly string[],
): Promise<Map<string, Footer>> {
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS();
  const paths = pathList(files);
  // Lists come as JSON, because the binding reads lists several times slower. Each statement reads all footers, so
  // there are only two.
  const schemaRows = (await read(
    `SELECT file_name, to_json(list([name, coalesce(duckdb_type, 'nested'), coalesce(num_children, 0)::VARCHAR] ORDER BY column_id))
     FROM parquet_schema(${paths}) GROUP BY file_name`,
  )) as [string, string][];
  const groupRows = (await read(
    `SELECT file_name, row_group_id, any_value(row_group_num_rows), string_agg(DISTINCT compression, ' '),
            to_json(list([lower(path_in_schema), stats_min_value, stats_max_value, stats_null_count::VARCHAR])
              FILTER (lower(path_in_schema) IN (${columns.map(quoteText).join(', ')})))
     FROM parquet_metadata(${paths}) GROUP BY 1, 2 ORDER BY 1, 2`,
  )) as [string, bigint, bigint, string, string | null][];

  const groupsByPath = Map.groupBy(groupRows, ([path]) => path);
  const footers = schemaRows.map(([path, json]): [string, Footer] => {
    const columns = topLevel(JSON.parse(json) as SchemaElement[]);
    const lower = columns.map(([name]) => name.toLowerCase());
    const groups = groupsByPath.get(path) ?? [];
    return [
      path,
      {
        types: new Map(columns.map(([, type], nth) => [lower[nth] as string, type])),
        doubledNames: [...new Set(lower.filter((name, index) => lower.indexOf(name) !== index))],
        rows: groups.reduce((sum, [, , rows]) => sum + Number(rows), 0),
        rowGroupRows: groups.map(([, , rows]) => Number(rows)),
        compression: [...new Set(groups.flatMap(([, , , codecs]) => codecs.split(' ')))],
        statistics: statisticsOf(
          groups.flatMap(([, , , , json]) => JSON.parse(json ?? '[]') as GroupStatistics[]),
        ),
      },
    ];
  });
  const idByPath = new Map(files.map(({ id, path }) => [path, id]));
  return new Map(footers.map(([path, footer]) => [idByPath.get(path) ?? path, footer]));
}

/** The statistics of a file's columns, from those of its row groups. */
function statisticsOf(ofGroups: readonly GroupStatistics[]): Map<string, ColumnStatistics> {
  const byName = Map.groupBy(ofGroups, ([name]) => name);
  return new Map(
    [...byName].map(([name, groups]): [string, ColumnStatistics] => [
      name,
      {
        min: groups.map(([, min]) => min ?? undefined),
        max: groups.map(([, , max]) => max ?? undefined),
        nulls: groups.map(([, , , nulls]) => (nulls === null ? undefined : Number(nulls))),
      },
    ]),
  );
}

/**
 * The table's columns in a Parquet schema. The schema lists the root, and then each element before its children. The
 * parts of a list or a struct are not columns of the table.
 */
function topLevel(elements: readonly SchemaElement[]): SchemaElement[] {
  const columns: SchemaElement[] = [];
  const childrenOf = (at: number) => Number(elements[at]?.[2]);
  for (let at = 1; at < elements.length; at++) {
    columns.push(elements[at] as SchemaElement);
    for (let below = childrenOf(at); below > 0; below--) below += childrenOf(++at);
  }
  return columns;
}
