/** A value as the file has it: the text without its quotes, or null if the field is empty, which means not known. */
export type Cell = string | null;

const COMMA = 44;
const LINE_FEED = 10;
const QUOTE = 34;

/** The file is not the CSV that the service writes, or ends in the middle of a row. */
export class BrokenCsv extends Error {}

/**
 * Reads the rows of a CSV (docs/contract.md#the-file) piece by piece, as the text arrives. Passes each row to `onRow`
 * in an array that is reused for the next row.
 */
export function csvReader(onRow: (cells: readonly Cell[]) => void) {
  let rest = '';
  const cells: Cell[] = [];

  /**
   * Reads the row that begins at `start`. Returns the position after its line feed, or -1 if the text ends before the
   * row does.
   */
  const readRow = (text: string, start: number): number => {
    let column = 0;
    let at = start;
    while (at < text.length) {
      if (text.charCodeAt(at) === QUOTE) {
        let value = '';
        let from = at + 1;
        for (;;) {
          const quote = text.indexOf('"', from);
          // A quote at the very end of a piece may be the first of two quotes. Only the next piece shows that.
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
    /** Throws BrokenCsv if the file ends in the middle of a row. */
    end(): void {
      if (rest !== '') throw new BrokenCsv('The file ends in the middle of a row.');
    },
  };
}
