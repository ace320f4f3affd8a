/** Answers of the tools: rows under a first line in words, bounded, with foreign texts as data. */

/** The most characters of an answer, its text and its structured content together. */
export const MOST_CHARACTERS = 24_000;
const MOST_OF_A_TEXT = 100;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: (string | null)[][];
  /** If it is more than `rows` holds. */
  readonly rowsInAll?: number;
  /** The columns that DuckDB rounds. */
  readonly rounded?: readonly string[];
}

/** An error with a text for the agent: what is wrong, and what to do. */
export class Failure extends Error {}

/** Escapes control, bidi, invisible and unassigned characters, separators of lines, quotes and backslashes. */
const escaped = (text: string) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\p{DI}"\\]/gu, (unsafe) =>
    /["\\]/.test(unsafe) ? `\\${unsafe}` : `\\u{${unsafe.codePointAt(0)?.toString(16)}}`,
  );

/** A foreign text, made inert for a sentence: the name of a column, or an error of DuckDB. */
export const inert = (text: unknown, most = 300): string => {
  const line = escaped(String(text ?? '').replace(/\s+/g, ' ')).replaceAll('\\"', '"');
  return line.length > most ? `${line.slice(0, most).toWellFormed()} …` : line;
};

/** A text of the traffic as the value of a cell. */
export const dataCell = (text: string): string => {
  const left = text.length - MOST_OF_A_TEXT;
  return `data:"${escaped(text.slice(0, MOST_OF_A_TEXT))}"${left > 0 ? ` (${left} characters left out)` : ''}`;
};

/** Facts in words. Those without words are left out. */
export function sentence(facts: Readonly<Record<string, string>>): string {
  const said = Object.entries(facts).filter(([, words]) => words !== '');
  return `${said.map(([name, words]) => `${name}: ${words}`).join('; ')}.`;
}

/** The answer with as many rows as fit. Its first line begins with what is left out. */
export function answer(summary: string, table: Table, reports: object[] = []) {
  const { columns, rows, rowsInAll = rows.length } = table;
  const lineOf = (row: Table['rows'][number] | Table['columns']) =>
    row.map((cell) => cell ?? 'NULL').join(' | ');
  const render = (rowsShown: number) => {
    const cut = rowsInAll - rowsShown;
    const warning = cut > 0 ? ` (${cut} LEFT OUT: don't add up what is shown)` : '';
    const first = `${rowsShown} of ${rowsInAll} rows shown${warning}. ${summary}`;
    const some = rows.slice(0, rowsShown);
    const text = [first, ...[columns, ...some].map(lineOf)].join('\n');
    const structuredContent = { summary: first, rowsShown, rowsInAll, columns, rows: some, reports };
    return { content: [{ type: 'text' as const, text }], structuredContent };
  };
  // The number of rows stands in the answer, too: 60 characters are enough for its digits.
  let left = MOST_CHARACTERS - 60 - JSON.stringify(render(0)).length;
  if (left < 0) throw new Failure('The answer is too large even without rows. Name fewer columns or tables.');
  const tooMany = rows.findIndex((row) => {
    left -= JSON.stringify([row, lineOf(row)]).length;
    return left < 0;
  });
  return render(tooMany < 0 ? rows.length : tooMany);
}
