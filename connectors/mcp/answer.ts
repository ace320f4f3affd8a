/** Answers of the tools: rows under a first line in words, bounded, with foreign texts as data. */

/** The most characters of an answer, its text and its structured content together. */
export const MOST_CHARACTERS = 24_000;
const MOST_OF_A_TEXT = 100;

export interface Table {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: (string | null)[][];
  readonly rowsInAll: number;
}

/** An error with a text for the agent: what is wrong, and what to do. */
export class Failure extends Error {}

/** Escapes control, bidi, invisible and unassigned characters, separators of lines, quotes and backslashes. */
const escaped = (text: string) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\p{DI}"\\]/gu, (unsafe) =>
    /["\\]/.test(unsafe) ? `\\${unsafe}` : `\\u{${unsafe.codePointAt(0)?.toString(16)}}`,
  );

/** A foreign text in a sentence, such as the name of a column or an error of DuckDB. */
export const shown = (text: unknown, most = 300): string => {
  const line = String(text ?? '').replace(/\s+/g, ' ');
  return escaped(line.slice(0, most)).replaceAll('\\"', '"') + (line.length > most ? ' …' : '');
};

/** A text of the traffic as the value of a cell. */
export const dataCell = (text: string): string => {
  const left = text.length - MOST_OF_A_TEXT;
  return `data:"${escaped(text.slice(0, MOST_OF_A_TEXT))}"${left > 0 ? ` (${left} characters left out)` : ''}`;
};

/** The answer with as many rows as fit. Its first line begins with what is left out. */
export function answer(summary: string, { columns, rows, rowsInAll }: Table, more: object = {}) {
  const names = columns.map(({ name }) => name).join(' | ');
  const render = (count: number) => {
    const cut = count < rowsInAll ? ` (${rowsInAll - count} LEFT OUT: don't add up what is shown)` : '';
    const first = `${count} of ${rowsInAll} rows shown${cut}. ${summary}`;
    const some = rows.slice(0, count);
    const text = [first, names, ...some.map((row) => row.map((cell) => cell ?? 'NULL').join(' | '))].join(
      '\n',
    );
    const structuredContent = { summary: first, rowsShown: count, rowsInAll, columns, rows: some, ...more };
    return { content: [{ type: 'text' as const, text }], structuredContent };
  };
  let [fits, tooMany] = [-1, rows.length + 1];
  while (tooMany - fits > 1) {
    const count = Math.floor((fits + tooMany) / 2);
    if (JSON.stringify(render(count)).length <= MOST_CHARACTERS) fits = count;
    else tooMany = count;
  }
  if (fits < 0) throw new Failure('The answer is too large even without rows. Name fewer columns or tables.');
  return render(fits);
}
