/** A value as the file has it: text without its quotes, or null where the field is empty (not known). */
export type Cell = string | null;

const COMMA = 44;
const LINE_FEED = 10;
const QUOTE = 34;

/** The file is not the CSV that the service writes, or ends in the middle of a row. */
export class BrokenCsv extends Error {}

/**
 * Reads the rows of a CSV (docs/contract.md#the-file) as its text comes, piece by piece. Rows go to `onRow` in an array
 * that is used again for the next one.
 */
export function csvReader(onRow: (cells: readonly Cell[]) => void) {
  let rest = '';
  const cells: Cell[] = [];

  /** Where the row that begins at `start` ends: after its line feed; -1 where the text does not reach it. */
  const readRow = (text: string, start: number): number => {
    let column = 0;
    let at = start;
    while (at < text.length) {
      if (text.charCodeAt(at) === QUOTE) {
        let value = '';
        let from = at + 1;
        for (;;) {
          const quote = text.indexOf('"', from);
          // A quote at the very end of a piece may be the first of two: the next piece decides.
          if (quote === -1 || quote + 1 === text.length) return -1;
          if (text.charCodeAt(quote + 1) !== QUOTE) {
            value = value === '' ? text.slice(from, quote) : value + text.slice(from, quote);
            at = quote + 1;
            break;
          }
          value += text.slice(from, quote + 1);
          from = quote + 2;
        }
        cells[column++] = value;
      } else {
        let end = at;
        let code = text.charCodeAt(end);
        while (end < text.length && code !== COMMA && code !== LINE_FEED) code = text.charCodeAt(++end);
        if (end === text.length) return -1;
        cells[column++] = end === at ? null : text.slice(at, end);
        at = end;
      }
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) {
        cells.length = column;
        return at + 1;
      }
      if (code !== COMMA)
        throw new BrokenCsv('A value is followed by neither a comma nor the end of its line.');
      at += 1;
    }
    return -1;
  };

  return {
    read(piece: string): void {
      const text = rest + piece;
      let at = 0;
      for (let end = readRow(text, 0); end !== -1; end = readRow(text, at)) {
        onRow(cells);
        at = end;
      }
      rest = text.slice(at);
    },
    /** Throws BrokenCsv where the file does not end with a row's end. */
    end(): void {
      if (rest !== '') throw new BrokenCsv('The file ends in the middle of a row.');
    },
  };
}
