import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * SQL that reads a CSV file. DuckDB detects the separator and the line ends from the first 20,480 records. Its other
 * guesses are turned off, because they lose records without a message:
 *
 * - quotes: if the first records have no quotes, later quotes would be text;
 * - `skip`: lines above a row that looks like a header would be left out;
 * - `comment`: lines that begin with `#` would be left out.
 *
 * An empty field is NULL; an empty text in quotes is an empty text.
 *
 * @param file its path as SQL
 */
export const csvReader = (file: string, isGzip: boolean, header = true): string =>
  `read_csv(${file}, all_varchar = true, header = ${header}, nullstr = '', allow_quoted_nulls = false, hive_partitioning = false, quote = '"', skip = 0, comment = ''${
    isGzip ? ", compression = 'gzip'" : ''
  })`;

const SEPARATORS = /[,;|\t]/;

/**
 * Throws if DuckDB found no separator although the first line has one. Other lines then have more or fewer fields.
 *
 * @param names the columns that were found
 * @param reader SQL of `csvReader`
 */
export async function refuseUnevenLines(
  connection: DuckDBConnection,
  names: readonly string[],
  reader: string,
): Promise<void> {
  const [line = ''] = names;
  const [separator] = SEPARATORS.exec(line) ?? [];
  if (names.length !== 1 || !separator) return;
  const fields = line.split(separator).length;
  const uneven = await connection.runAndReadAll(
    `SELECT x FROM ${reader} AS lines(x) WHERE NOT contains(x, '"') AND len(string_split(x, '${separator}')) <> ${fields} LIMIT 1`,
  );
  const example = uneven.getRowsJS()[0]?.[0];
  throw new Error(
    `not every line has the ${fields} fields that the first line names${
      typeof example === 'string' ? `, for example ${JSON.stringify(example.slice(0, 200))}` : ''
    }. Write the header first, then records alone, each with all fields`,
  );
}
