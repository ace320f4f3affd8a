import type { Cell } from './read-csv.ts';
import type { ReaderAnswer, Reading } from './reader-messages.ts';

/** The number of rows that the table shows while the file is being read, or if the file is too large to read. */
const SHOWN_ROWS = 1_000;
const PROGRESS_MS = 250;

/**
 * Sends the first rows of a file to the page as they arrive, the very first at once. After SHOWN_ROWS rows, sends only
 * the progress of the reading. Sends only a few messages a second.
 */
export function firstRowsTeller(tell: (answer: ReaderAnswer) => void, reading: () => Reading) {
  let untold: Cell[][] = [];
  let toldRows = 0;
  let answeredAt = performance.now();
  const tellRows = () => {
    tell({ kind: 'rows', rows: untold, reading: reading() });
    toldRows += untold.length;
    untold = [];
  };
  return {
    onRow(cells: readonly Cell[]): void {
      if (toldRows + untold.length < SHOWN_ROWS) untold.push([...cells]);
    },
    onPiece(): void {
      const isFirst = toldRows === 0 && untold.length > 0;
      const isLast = untold.length > 0 && toldRows + untold.length === SHOWN_ROWS;
      const now = performance.now();
      if (!isFirst && !isLast && now - answeredAt <= PROGRESS_MS) return;
      answeredAt = now;
      tellRows();
    },
    onEnd: () => untold.length > 0 && tellRows(),
    /** Whether all SHOWN_ROWS rows have been sent. */
    isDone: (): boolean => toldRows === SHOWN_ROWS,
  };
}
