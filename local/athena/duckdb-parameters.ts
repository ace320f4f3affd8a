import {
  DuckDBBlobValue,
  type DuckDBConnection,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import { QueryFailure } from './query-engine.ts';

export interface BoundParameters {
  readonly values: DuckDBValue[];
  readonly types: DuckDBType[];
}

/**
 * Evaluates execution parameters, which are SQL expressions, not values. The statement takes `count` parameters. Throws
 * a QueryFailure if there are more or fewer. As in Athena, a statement that takes no parameters ignores them.
 */
export async function evaluateParameters(
  connection: DuckDBConnection,
  expressions: readonly string[],
  count: number,
): Promise<BoundParameters> {
  if (count === 0) return { values: [], types: [] };
  const found = expressions.length;
  if (found !== count)
    throw new QueryFailure(
      'INVALID_PARAMETER_USAGE',
      `line 1:1: Incorrect number of parameters: expected ${count} but found ${found}`,
    );
  // The line break ends a comment at the end of an expression. Without it, the comment would contain the bracket.
  const bracketed = expressions.map((text) => `(${text}\n)`);
  const reader = await connection.runAndReadAll(`SELECT ${bracketed.join(', ')}`);
  const [values] = reader.getRows();
  const types = reader.columnTypes();
  if (!values || values.length !== count)
    throw new QueryFailure('INVALID_PARAMETER_USAGE', 'line 1:1: A parameter is more than one expression');
  return { values: await exactTexts(connection, bracketed, values, types), types };
}

/** The values, with each text decoded from its bytes: the library drops a U+FEFF at the beginning of a text. */
async function exactTexts(
  connection: DuckDBConnection,
  bracketed: readonly string[],
  values: readonly DuckDBValue[],
  types: readonly DuckDBType[],
): Promise<DuckDBValue[]> {
  const isText = (index: number) => types[index]?.typeId === DuckDBTypeId.VARCHAR;
  if (!values.some((_, index) => isText(index))) return [...values];
  const bytes = bracketed.map((text, index) => (isText(index) ? `encode(${text})` : 'NULL'));
  const [row = []] = (await connection.runAndReadAll(`SELECT ${bytes.join(', ')}`)).getRows();
  return values.map((value, index) => {
    const blob = row[index];
    return blob instanceof DuckDBBlobValue ? Buffer.from(blob.bytes).toString('utf8') : value;
  });
}
