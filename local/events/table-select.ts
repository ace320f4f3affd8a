import { join } from 'node:path';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Column, PARTITION_COLUMN } from '../../lib/report/tables.ts';
import { DUCKDB_TYPE } from '../lake/column-types.ts';
import { filesOf, type TableFacts } from '../lake/lake-facts.ts';

/**
 * SQL that reads a table of a directory as Athena does: every file in a day's folder and the folders below it, whatever
 * its name, but for names that begin with `_` or `.`; columns by name, NULL where a file has none; the day from the
 * folder. The session has to be in UTC.
 */
export function tableSelect(directory: string, facts: TableFacts): string {
  const { name, columns } = facts.table;
  const schemas = filesOf(facts).map(({ footer }) => footer?.types ?? new Map<string, string>());
  if (schemas.length === 0) return emptySelect(columns);

  const typesOf = ({ name }: Column) => [...new Set(schemas.map((types) => types.get(name)))];
  const differ = columns.some((column) => typesOf(column).length > 1);
  const read = columns.map((column) => {
    const types = typesOf(column);
    const quoted = quoteName(column.name);
    const expected = DUCKDB_TYPE[column.type];
    if (types.every((type) => type === undefined)) return `CAST(NULL AS ${expected}) AS ${quoted}`;
    // A cast keeps DuckDB from skipping row groups. With the session in UTC, the one from TIMESTAMP WITH TIME ZONE
    // gives the UTC wall time.
    return types.length === 1 && types[0] === expected
      ? quoted
      : `CAST(${quoted} AS ${expected}) AS ${quoted}`;
  });
  const dayFolders = join(directory, name, `${PARTITION_COLUMN}=`);
  const start = [...dayFolders].length + 1;
  const files = quoteText(`${dayFolders}*/**/[!._]*`);
  // Hive partitioning would refuse folders like `hour=05` in some days and not in others. DuckDB decides on
  // conditions on the file's name alone before it opens a file, so that only the days of a query are read.
  return `SELECT ${read.join(', ')}, substr(filename, ${start}, ${DAY_LENGTH}) AS ${quoteName(PARTITION_COLUMN)}
    FROM read_parquet(${files}, filename = true, hive_partitioning = false${differ ? ', union_by_name = true' : ''})
    WHERE NOT regexp_matches(substr(filename, ${start}), '/[._]')`;
}

const DAY_LENGTH = 'YYYY-MM-DD'.length;

const emptySelect = (columns: readonly Column[]): string => {
  const read = columns.map(({ name, type }) => `CAST(NULL AS ${DUCKDB_TYPE[type]}) AS ${quoteName(name)}`);
  return `SELECT ${read.join(', ')}, CAST(NULL AS VARCHAR) AS ${quoteName(PARTITION_COLUMN)} WHERE false`;
};
