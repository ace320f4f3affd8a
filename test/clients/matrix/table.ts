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

const rowLine = (row: Row): string => line(COLUMNS.map(([key]) => row[key]));

/** The part of the guide that the test writes, its rows by the client's name, and the guide with another part. */
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

/** How a cure changes a program: the lines that differ, as `diff` marks them; for added lines, also the one before. */
function diff(before: readonly string[], after: readonly string[]): string[] {
  const common = (i: number, j: number): number => {
    if (i === before.length || j === after.length) return 0;
    return before[i] === after[j] ? 1 + common(i + 1, j + 1) : Math.max(common(i + 1, j), common(i, j + 1));
  };
  const lines: string[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (before[i] === after[j]) {
      lines.push(` ${before[i++]}`);
      j++;
    } else if (i < before.length && common(i + 1, j) === common(i, j)) lines.push(`-${before[i++]}`);
    else lines.push(`+${after[j++]}`);
  }
  return lines.filter((text, index) => text[0] !== ' ' || lines[index + 1]?.[0] === '+');
}

const cureOf = (client: Client): string =>
  [
    '<details>',
    `<summary>${client.name}: ${client.why}</summary>\n`,
    '```diff',
    ...diff(client.program.trimEnd().split('\n'), cured(client).trimEnd().split('\n')),
    '```\n',
    '</details>',
  ].join('\n');

const render = (rows: Iterable<Row>, clients: readonly Client[]): string =>
  [
    line(COLUMNS.map(([, title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...[...rows].map(rowLine),
    '\n### What must change\n',
    ...clients.filter(({ cures }) => cures).map(cureOf),
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
