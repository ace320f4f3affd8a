import type { FieldType } from '../report/catalogue.ts';
import { brokenRows, numberQuotes } from './drop-number-quotes.ts';

/** Far more than the names of the most columns: what goes on without an end is no header. */
const MOST_HEADER_BYTES = 65_536;

export interface CsvColumn {
  readonly name: string;
  readonly type: FieldType;
}

/**
 * Turns the engine's result file, where every value is quoted, into the report's CSV (contract 2.3): the
 * header line of the requested fields, numbers bare, texts and instants as they are. NULL stays an empty field.
 * Throws if the file does not hold whole rows of these columns.
 *
 * @param columns name and type of each column, in the file's order
 * @param chunks the engine's file, cut anywhere; each is overwritten and handed on before the next is asked for
 */
export async function* retypeCsv(
  columns: readonly CsvColumn[],
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${columns.map(({ name }) => `"${name}"`).join(',')}\n`);

  const quotes = numberQuotes(columns.map(({ type }) => type === 'integer' || type === 'float'));
  let header = true;
  let headerBytes = 0;
  for await (const chunk of chunks) {
    // The engine's header goes byte by byte, so that it is seen where it ends; it is not handed on.
    let start = 0;
    while (header && start < chunk.length) {
      quotes.drop(chunk.subarray(start, ++start));
      header = !quotes.afterRow();
      if (header && ++headerBytes > MOST_HEADER_BYTES) throw brokenRows();
    }
    const rows = chunk.subarray(start);
    const length = quotes.drop(rows);
    if (length > 0) yield rows.subarray(0, length);
  }
  if (!quotes.afterRow()) throw brokenRows();
}
