/** Answers of the tools: rows under a first line in words, bounded, with foreign texts as data. */

/** The most characters of an answer, its text and its structured content together. */
export const MOST_CHARACTERS = 24_000;
const MOST_OF_A_TEXT = 100;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: (string | null)[][];
  /** If it is more than `rows` holds. */
  readonly rowsInAll?: number;
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

/** The answer with the rows that fit. Its first line begins with what is left out. */
export function answer(summary: string, table: Table, reports: object[] = []) {
  const { columns, rowsInAll = table.rows.length } = table;
  for (let rows = table.rows; ; rows = rows.slice(0, Math.floor(rows.length * 0.98))) {
    const cut = rowsInAll - rows.length;
    const warning = cut > 0 ? ` (${cut} LEFT OUT: don't add up what is shown)` : '';
    const first = `${rows.length} of ${rowsInAll} rows shown${warning}. ${summary}`;
    const lines = [columns, ...rows].map((row) => row.map((cell) => cell ?? 'NULL').join(' | '));
    const content = [{ type: 'text' as const, text: [first, ...lines].join('\n') }];
    const structuredContent = { summary: first, rowsShown: rows.length, rowsInAll, columns, rows, reports };
    const made = { content, structuredContent };
    if (JSON.stringify(made).length <= MOST_CHARACTERS) return made;
    if (rows.length === 0) throw new Failure('That is too much even without rows. Name less.');
  }
}
