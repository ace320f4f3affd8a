import { readFile, writeFile } from 'node:fs/promises';
import { anchorsOf } from '../../docs/markdown.ts';
import type { Client } from './client.ts';

/** The measurements of a client. A mark is `✓`, `✗`, or `?` if nobody has measured the value. */
export interface Row {
  readonly name: string;
  /** The reason why the unchanged program can't pull some reports, as the page says it. */
  readonly why: string;
  /** The mark of `atOnce`, measured with an edge for downloads. */
  readonly withEdge: string;
  readonly atOnce: string;
  readonly after70s: string;
  readonly after300s: string;
  readonly gzip: string;
  readonly token: string;
}

export const unmeasured = (name: string): Row => ({
  ...{ name, why: '?', withEdge: '?', atOnce: '?', after70s: '?', after300s: '?' },
  ...{ gzip: '?', token: '?' },
});

const COLUMNS = [
  ...['client', 'works', 'what is in its way', 'at once', 'at once, with an edge'],
  ...['70 s', '300 s', 'gzip', 'the token'],
];

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** What a client needs to work: nothing, more options in its program, or a rewritten program. */
type Kind = 'as it comes' | 'an option' | 'rewrite';

/** Whether `after` is `before` plus text in one place. The text may replace one word, but not the first word. */
function isExtended(before: string, after: string): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const replaced = before.slice(start, before.length - end);
  return replaced === '' || (/^\w+$/.test(replaced) && before.slice(0, start).trim() !== '');
}

/** The kind of the client's cure. Options extend existing lines, or add one line. Any other cure is a rewrite. */
function kindOf({ cure }: Client): Kind {
  if (!cure) return 'as it comes';
  const [removed = [], added = []] = ['-', '+'].map((sign) =>
    cure.flatMap((line) => (line[0] === sign ? [line.slice(1)] : [])),
  );
  const isOption =
    removed.length === 0
      ? added.length === 1
      : removed.length === added.length && removed.every((line, i) => isExtended(line, added[i] ?? ''));
  return isOption ? 'an option' : 'rewrite';
}

/** The part of docs/clients.md that the test writes, and a function that writes it. */
async function readTable() {
  const file = new URL('../../../docs/clients.md', import.meta.url);
  const text = await readFile(file, 'utf8');
  const [begin, end] = ['<!-- Made by npm run test:clients. -->\n', '<!-- End of what it makes. -->\n'];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  return {
    made: text.slice(from, to),
    write: (made: string) => writeFile(file, text.slice(0, from) + made + text.slice(to)),
  };
}

function rowOf(cells: readonly string[]): Row {
  const [name = '', , why = '', atOnce = '', withEdge = '', after70s = '', after300s = ''] = cells;
  const [gzip = '', token = ''] = cells.slice(7);
  return { name, why, atOnce, withEdge, after70s, after300s, gzip, token };
}

export async function documentedRows(): Promise<ReadonlyMap<string, Row>> {
  const { made } = await readTable();
  const rows = [...made.matchAll(/^\| (.*) \|$/gm)].slice(2);
  return new Map(rows.map(([, cells = '']) => rowOf(cells.split(' | '))).map((row) => [row.name, row]));
}

function lineOf(client: Client, row: Row): string {
  const kind = kindOf(client);
  const [anchor] = anchorsOf(`# ${client.name}`);
  const works = client.cure ? `[${kind}](programs/cures.md#${anchor})` : kind;
  const measured = [row.atOnce, row.withEdge, row.after70s, row.after300s, row.gzip, row.token];
  return line([client.name, works, row.why, ...measured]);
}

/**
 * The table of the guide: its current text, and the text that it should have with these rows. The row of a client that
 * this machine does not have is not changed.
 */
export async function guideWith(measured: readonly Row[], clients: readonly Client[]) {
  const { made, write } = await readTable();
  const known = new Map([...(await documentedRows()), ...measured.map((row) => [row.name, row] as const)]);
  const rows = clients.flatMap((client) => {
    const row = known.get(client.name);
    return row ? [lineOf(client, row)] : [];
  });
  const shouldSay = [line(COLUMNS), line(COLUMNS.map(() => '---')), ...rows, '\n'].join('\n');
  return { says: made, shouldSay, write: () => write(shouldSay) };
}
