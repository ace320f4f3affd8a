import { readFile, writeFile } from 'node:fs/promises';
import { type Client, cured } from './client.ts';

/** What was measured of a client. A mark is `✓` or `✗`. */
export interface Row {
  readonly name: string;
  readonly atOnce: string;
  readonly after70s: string;
  readonly after300s: string;
  readonly oddText: string;
  readonly gzip: string;
  readonly token: string;
  readonly why: string;
}

const GUIDE = new URL('../../../docs/clients.md', import.meta.url);
const BEGIN = '<!-- Made by npm run test:clients. -->\n';
const END = '<!-- End of what it makes. -->\n';
const COLUMNS = [
  ['name', 'client'],
  ['atOnce', 'at once'],
  ['after70s', '70 s'],
  ['after300s', '300 s'],
  ['oddText', 'odd text'],
  ['gzip', 'gzip'],
  ['token', 'the token'],
  ['why', 'what is in its way'],
] as const;

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

export const rowLine = (row: Row): string => line(COLUMNS.map(([key]) => row[key]));

/** What the test makes of the guide: all around it, and its rows by the client's name. */
async function readGuide() {
  const guide = await readFile(GUIDE, 'utf8');
  const [from, to] = [guide.indexOf(BEGIN) + BEGIN.length, guide.indexOf(END)];
  const rows = [...guide.slice(from, to).matchAll(/^\| (.*) \|$/gm)].slice(2).map(([, cells = '']) => {
    const texts = cells.split(' | ');
    return Object.fromEntries(COLUMNS.map(([key], index) => [key, texts[index] ?? ''])) as unknown as Row;
  });
  return {
    made: guide.slice(from, to),
    rows: new Map(rows.map((row) => [row.name, row])),
    with: (made: string) => guide.slice(0, from) + made + guide.slice(to),
  };
}

export const documentedRows = async (): Promise<ReadonlyMap<string, Row>> => (await readGuide()).rows;

/** The lines of each client's program that must change: without what stays as it is. */
function changes(client: Client): string {
  const before = client.program.split('\n');
  const after = cured(client).split('\n');
  return [
    '<details>',
    `<summary>${client.name}: ${client.why}</summary>\n`,
    '```diff',
    ...before.filter((text) => !after.includes(text)).map((text) => `-${text}`),
    ...after.filter((text) => !before.includes(text)).map((text) => `+${text}`),
    '```\n',
    '</details>',
  ].join('\n');
}

const render = (rows: Iterable<Row>, clients: readonly Client[]): string =>
  [
    line(COLUMNS.map(([, title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...[...rows].map(rowLine),
    '\n### What must change\n',
    ...clients.filter(({ cures }) => cures).map(changes),
    '',
  ].join('\n');

/** The guide as it is, and as these rows want it; those of clients that this machine does not have stay. */
export async function guideWith(measured: readonly Row[], clients: readonly Client[]) {
  const { rows, ...guide } = await readGuide();
  const known = new Map([...rows, ...measured.map((row) => [row.name, row] as const)]);
  const part = render(
    clients.flatMap(({ name, why = '' }) => (known.has(name) ? { ...(known.get(name) as Row), why } : [])),
    clients,
  );
  return {
    says: guide.made,
    shouldSay: part,
    write: () => writeFile(GUIDE, guide.with(part)),
  };
}
