import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guideReport, ODD_TEXT } from '../guide-events.ts';
import { npmStart, type Started } from '../npm-start.ts';
import { type Client, cured, type RunSource } from './client.ts';
import { goClients } from './go.ts';
import { javaClients } from './java.ts';
import { nodeClients } from './node.ts';
import { startProbe } from './probe.ts';
import { duckDbClients, pythonClients } from './python.ts';
import { rustClients } from './rust.ts';
import { perlClients, phpClients, rClients, rubyClients } from './scripts.ts';
import { shellTools } from './shell.ts';
import { documentedRows, type Row, rowLine, writeRows } from './table.ts';

/** How long the report takes that is waited for: 70 s in CI; 300 s by `npm run test:clients:long`. */
const WAIT_SECONDS = Number(process.env['WAIT_SECONDS'] ?? 70);
/** Writes what was measured into the guide, instead of holding it against the guide. */
const isUpdate = process.env['UPDATE_TABLE'] === '1';
/** `CLIENTS=Ruby,R`: these languages alone. */
const chosen = process.env['CLIENTS']?.split(',');
const AT_A_TIME = 6;

const languages = [
  ...shellTools,
  ...[pythonClients, duckDbClients, nodeClients, javaClients, goClients],
  ...[rubyClients, perlClients, phpClients, rClients, rustClients],
];

interface Subject {
  readonly client: Client;
  readonly run: RunSource;
  readonly index: number;
}

let started: Started;
let probe: Awaited<ReturnType<typeof startProbe>>;
const subjects: Subject[] = [];
beforeAll(async () => {
  for (const { name, clients, prepare } of languages) {
    if (chosen && !chosen.includes(name)) continue;
    const run = await prepare();
    if (run) for (const client of clients) subjects.push({ client, run, index: subjects.length });
  }
  started = await npmStart();
  probe = await startProbe();
}, 900_000);
afterAll(async () => {
  probe?.close();
  await started?.close();
});

/** Runs a program in a directory of its own; resolves to what it wrote, or to nothing where it failed. */
async function pull({ run, client }: Subject, source: string, environment: Record<string, string>) {
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-client-'));
  const out = join(directory, 'out.csv');
  try {
    // What every desktop and server sets; without it, Java and R read the text as ASCII.
    const locale = { LC_ALL: 'C.UTF-8' };
    await run(source, directory, { ...started.environment, ...locale, OUT: out, ...environment });
    return await readFile(out);
  } catch (error) {
    if (process.env['SHOW_FAILURES'])
      process.stdout.write(`${client.name}: ${String(error).slice(0, 600)}\n`);
    return undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const urlOf = (endExclusive: string) =>
  `${started.apiUrl}/reporting/publisherperformance?requestedFields=Day,PublisherAccountId,Clicks,Revenue` +
  `&startInclusive=2026-01-01T00:00:00Z&endExclusive=${endExclusive}&api-version=1.0`;

const cellsOf = (csv: string): string => JSON.stringify(parse(csv));

/** Whether the program gets the report; the filter's value is `text`, and the window's end makes the query its own. */
async function gets(subject: Subject, source: string, text: string, end: string): Promise<boolean> {
  const written = await pull(subject, source, {
    URL: urlOf(end),
    TEXT: text,
    ENCODED: encodeURIComponent(text),
  });
  const expected = guideReport([text], { end });
  if (!written) return false;
  return subject.client.rewrites
    ? cellsOf(written.toString()) === cellsOf(expected)
    : written.equals(Buffer.from(expected));
}

/** So many at a time: more would be a test of this machine. */
async function inTurn<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
    }),
  );
}

interface Marks {
  atOnce: boolean;
  slow: boolean;
  oddText: boolean;
}

const JANUARY = '2026-02-01T00:00:00Z';
const QUEUED_MARK = '2026-01-3';

/** An end of the window that makes a query of its own. */
const endOf = (number: number) =>
  `${QUEUED_MARK}${number < 3_600 ? '0' : '1'}T12:${String(Math.floor((number % 3_600) / 60)).padStart(2, '0')}:${String(number % 60).padStart(2, '0')}Z`;

/** What a program of each subject manages: `sources` has none for those that need not be run. */
async function measure(sources: ReadonlyMap<Subject, string>, firstNumber: number) {
  const marks = new Map<Subject, Marks>();
  await inTurn([...sources], async ([subject, source]) => {
    const atOnce = await gets(subject, source, 'Mobile', JANUARY);
    const oddText = await gets(subject, source, ODD_TEXT, JANUARY);
    marks.set(subject, { atOnce, oddText, slow: false });
  });
  await started.setFaults([
    { on: 'query', match: `TIMESTAMP '${QUEUED_MARK}`, queuedMs: WAIT_SECONDS * 1_000 },
  ]);
  await Promise.all(
    [...sources].map(async ([subject, source]) => {
      const mark = marks.get(subject) as Marks;
      if (mark.atOnce) mark.slow = await gets(subject, source, 'Mobile', endOf(firstNumber + subject.index));
    }),
  );
  await started.setFaults([]);
  return marks;
}

const mark = (passed: boolean | undefined) => (passed ? '✓' : '✗');

it('every client pulls the reports that docs/clients.md says, and with its cure all of them', async () => {
  const naive = await measure(new Map(subjects.map((subject) => [subject, subject.client.program])), 1);
  await inTurn(subjects, async (subject) => {
    await pull(subject, subject.client.program, { URL: probe.url(subject.index), TEXT: 'a', ENCODED: 'a' });
  });
  const sick = subjects.filter((subject) => subject.client.cures);
  const healed = await measure(new Map(sick.map((subject) => [subject, cured(subject.client)])), 1_000);

  const documented = await documentedRows();
  const rows = subjects.map((subject): Row => {
    const { client, index } = subject;
    const marks = naive.get(subject) as Marks;
    const { follows, forwardsToken, asksForGzip } = probe.seen(index);
    const before = documented.get(client.name);
    const lines =
      client.cures?.map(({ to }) => `\`${to.replaceAll('`', "'").replace(/\s+/g, ' ').trim()}\``) ?? [];
    return {
      name: client.name,
      atOnce: mark(marks.atOnce),
      after70s: WAIT_SECONDS === 70 ? mark(marks.slow) : (before?.after70s ?? ''),
      after300s: WAIT_SECONDS === 300 ? mark(marks.slow) : (before?.after300s ?? ''),
      oddText: mark(marks.oddText),
      gzip: asksForGzip ? 'yes' : 'no',
      token: follows ? (forwardsToken ? 'goes on' : 'stays') : 'no redirect',
      cure: [...lines.slice(0, 3), ...(client.note ? [client.note] : [])].join('; '),
    };
  });
  if (isUpdate) await writeRows(rows);

  const notCured = [...healed].filter(([, { atOnce, slow, oddText }]) => !(atOnce && slow && oddText));
  expect(notCured.map(([{ client }, marks]) => [client.name, marks])).toEqual([]);
  const incurable = [...naive].filter(
    ([{ client }, { atOnce, slow, oddText }]) => !client.cures && !(atOnce && slow && oddText),
  );
  expect(incurable.map(([{ client }, marks]) => [client.name, marks])).toEqual([]);
  const current = await documentedRows();
  expect(rows.map(rowLine)).toEqual(rows.map(({ name }) => rowLine(current.get(name) ?? ({ name } as Row))));
  expect(current.size).toBeGreaterThanOrEqual(30);
}, 1_800_000);
