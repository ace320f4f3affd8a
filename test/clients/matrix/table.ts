import { readFile, writeFile } from 'node:fs/promises';
import { anchorsOf } from '../../docs/markdown.ts';
import type { Client } from './client.ts';
import { changedLines, kindOf } from './cure.ts';

/** The measurements of a client. A mark is `✓`, `✗`, or `?` if nobody has measured the value. */
export interface Row {
  readonly name: string;
  /** The mark of `atOnce`, measured with an edge for downloads. */
  readonly withEdge: string;
  readonly atOnce: string;
  readonly after70s: string;
  readonly after300s: string;
  readonly gzip: string;
  readonly token: string;
}

export const unmeasured = (name: string): Row => ({
  ...{ name, withEdge: '?', atOnce: '?', after70s: '?', after300s: '?' },
  ...{ gzip: '?', token: '?' },
});

const COLUMNS = [
  ...['client', 'works', 'what is in its way', 'at once', 'at once, with an edge'],
  ...['70 s', '300 s', 'gzip', 'the token'],
];

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** The part of a page of `docs/` that the test writes. */
async function readMade(page: string) {
  const file = new URL(`../../../docs/${page}`, import.meta.url);
  const text = await readFile(file, 'utf8');
  const [begin, end] = ['<!-- Made by npm run test:clients. -->\n', '<!-- End of what it makes. -->\n'];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  return {
    made: text.slice(from, to),
    write: (made: string) => writeFile(file, text.slice(0, from) + made + text.slice(to)),
  };
}

const readTable = () => readMade('clients.md');

const rowOf = (cells: readonly string[]): Row => {
  const [name = '', , , atOnce = '', withEdge = '', after70s = '', after300s = '', gzip = '', token = ''] =
    cells;
  return { name, atOnce, withEdge, after70s, after300s, gzip, token };
};

export async function documentedRows(): Promise<ReadonlyMap<string, Row>> {
  const { made } = await readTable();
  const rows = [...made.matchAll(/^\| (.*) \|$/gm)].slice(2);
  return new Map(rows.map(([, cells = '']) => rowOf(cells.split(' | '))).map((row) => [row.name, row]));
}

function cellsOf(client: Client, row: Row): string[] {
  const kind = kindOf(client);
  const [anchor] = anchorsOf(`# ${client.name}`);
  const works = client.cures ? `[${kind}](programs/cures.md#${anchor})` : kind;
  return [
    ...[client.name, works, client.why ?? '', row.atOnce, row.withEdge],
    ...[row.after70s, row.after300s, row.gzip, row.token],
  ];
}

const cureOf = (client: Client): string =>
  [`## ${client.name}`, '```diff', ...changedLines(client), '```', ''].join('\n');

/**
 * The generated parts of the guide and of its page of cures: the current texts, and the texts that they should have
 * with these rows. The row of a client that this machine does not have is not changed.
 */
export async function guideWith(measured: readonly Row[], clients: readonly Client[]) {
  const [table, cures] = await Promise.all([readTable(), readMade('programs/cures.md')]);
  const known = new Map([...(await documentedRows()), ...measured.map((row) => [row.name, row] as const)]);
  const rows = clients.flatMap((client) => {
    const row = known.get(client.name);
    return row ? [line(cellsOf(client, row))] : [];
  });
  const newTable = [line(COLUMNS), line(COLUMNS.map(() => '---')), ...rows, '\n'].join('\n');
  const newCures = clients
    .filter((client) => client.cures)
    .map(cureOf)
    .join('');
  return {
    says: table.made + cures.made,
    shouldSay: newTable + newCures,
    async write() {
      await table.write(newTable);
      await cures.write(newCures);
    },
  };
}
