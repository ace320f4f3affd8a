import { readFile, writeFile } from 'node:fs/promises';

/** What was measured of a client. A mark is `✓` or `✗`. */
export interface Row {
  readonly name: string;
  readonly atOnce: string;
  readonly after70s: string;
  readonly after300s: string;
  readonly oddText: string;
  readonly gzip: string;
  readonly token: string;
  readonly cure: string;
}

const GUIDE = new URL('../../../docs/clients.md', import.meta.url);
const BEGIN = '<!-- Made by npm run test:clients. -->\n';
const END = '\n<!-- End of what it makes. -->';
const COLUMNS = [
  ['name', 'client'],
  ['atOnce', 'at once'],
  ['after70s', '70 s'],
  ['after300s', '300 s'],
  ['oddText', 'odd text'],
  ['gzip', 'gzip'],
  ['token', 'the token'],
  ['cure', 'what must change'],
] as const;

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

export const rowLine = (row: Row): string => line(COLUMNS.map(([key]) => cell(row[key])));

/** The table's rows in the guide, by the client's name. */
export async function documentedRows(): Promise<Map<string, Row>> {
  const guide = await readFile(GUIDE, 'utf8');
  const table = guide.slice(guide.indexOf(BEGIN) + BEGIN.length, guide.indexOf(END));
  const rows = table
    .split('\n')
    .slice(2)
    .map((text) => {
      const cells = text
        .slice(2, -2)
        .split(/(?<!\\) \| /)
        .map((part) => part.replaceAll('\\|', '|'));
      return Object.fromEntries(COLUMNS.map(([key], index) => [key, cells[index] ?? ''])) as unknown as Row;
    });
  return new Map(rows.filter(({ name }) => name !== '').map((row) => [row.name, row]));
}

/** Writes the rows into the guide; those of clients that this machine does not have stay as they are. */
export async function writeRows(rows: readonly Row[]): Promise<void> {
  const documented = await documentedRows();
  for (const row of rows) documented.set(row.name, row);
  const table = [
    line(COLUMNS.map(([, title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...[...documented.values()].map(rowLine),
  ].join('\n');
  const guide = await readFile(GUIDE, 'utf8');
  const [from, to] = [guide.indexOf(BEGIN) + BEGIN.length, guide.indexOf(END)];
  await writeFile(GUIDE, guide.slice(0, from) + table + guide.slice(to));
}
