import type { FieldType } from '../report/catalogue.ts';
import { numberQuotes } from './drop-number-quotes.ts';

export interface CsvColumn {
  readonly name: string;
  readonly type: FieldType;
}

/**
 * Turns the engine's result file, in which every value is quoted, into the report's CSV (docs/contract.md#the-file).
 * The result has the header line of the requested fields, numbers without quotes, and texts and instants as they were.
 * NULL stays an empty field. Throws NotEngineCsv if the file is not made of whole rows of these columns in the engine's
 * dialect.
 *
 * @param columns name and type of each column, in the file's order
 * @param chunks the engine's file, cut anywhere; each chunk is overwritten and passed on before the next one is read
 * @param onEnd called with the number of rows after the last chunk
 */
export async function* retypeCsv(
  columns: readonly CsvColumn[],
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onEnd?: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${columns.map(({ name }) => `"${name}"`).join(',')}\n`);

  const quotes = numberQuotes(columns.map(({ type }) => type === 'integer' || type === 'float'));
  for await (const chunk of chunks) {
    const length = quotes.drop(chunk);
    if (length > 0) yield chunk.subarray(0, length);
  }
  const rows = quotes.end();
  onEnd?.(rows);
}
