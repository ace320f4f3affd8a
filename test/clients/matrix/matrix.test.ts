import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, it } from 'vitest';
import { ownFolder } from '../../own-folder.ts';
import { guideReport, ODD_TEXT } from '../guide-events.ts';
import { npmStart } from '../npm-start.ts';
import { isHere } from '../run-program.ts';
import { type Client, cured, cures, type RunSource } from './client.ts';
import { goClients, rustClients } from './compiled.ts';
import { javaClients } from './java.ts';
import { nodeClients } from './node.ts';
import { type Seen, startProbe } from './probe.ts';
import { duckDbClients, pythonClients } from './python.ts';
import { perlClients, phpClients, rClients, rubyClients } from './scripts.ts';
import { shellTools } from './shell.ts';
import { documentedRows, guideWith, type Row, unmeasured } from './table.ts';

/** How long the slow report takes: 70 s in CI, 300 s in `npm run test:clients:long`. */
const WAIT_SECONDS = Number(process.env['WAIT_SECONDS'] ?? 70);
/** `EDGE=1`: storage has an edge for downloads. Then the test measures only the table's column for the edge. */
const hasEdge = process.env['EDGE'] === '1';
/** `UPDATE_TABLE=1`: the test writes the measurements into the guide, and does not compare them with it. */
const isUpdate = process.env['UPDATE_TABLE'] === '1';
/** `CLIENTS=Ruby,R`: the test measures only these languages. */
const chosen = process.env['CLIENTS']?.split(',');
const AT_A_TIME = 6;
/** If storage has an edge for downloads, at least this many clients pull a ready report without any change. */
const LEAST_WITH_EDGE = 36;
/** The most times that a program is measured if it gets fewer reports than it should. */
const ROUNDS = 3;

const languages = [
  ...shellTools,
  ...[pythonClients, duckDbClients, nodeClients, javaClients, goClients],
  ...[...rubyClients, ...perlClients, ...phpClients, ...rClients, rustClients],
];
const clients = languages.flatMap((language) => language.clients);

interface Subject {
  readonly client: Client;
  readonly run: RunSource;
}

interface Trial extends Subject {
  readonly source: string;
  /** Whether the program has its cure. With the cure, it must get all reports; without, those of the guide's row. */
  readonly isCured: boolean;
  readonly got: { atOnce: boolean; oddText: boolean; slow: boolean };
}

const prepared = languages.map(async ({ name, runtime, clients, prepare }) => {
  if (chosen && !chosen.includes(name)) return [];
  const run = (await isHere(...runtime)) && (await prepare());
  return run ? clients.map((client): Subject => ({ client, run })) : [];
});
const subjects = (await Promise.all(prepared)).flat();
const started = await npmStart(hasEdge ? { DOWNLOADS_EDGE: '1' } : {});
const probe = await startProbe();
const home = await ownFolder();
afterAll(() => Promise.all([probe.close(), started.close()]));

/** Runs a program in its own directory; resolves to the file that it wrote, or to undefined if it failed. */
async function pull({ run, client }: Subject, source: string, environment: Record<string, string>) {
  const directory = await mkdtemp(join(home, 'client-'));
  const out = join(directory, 'out.csv');
  try {
    // Every desktop and server sets a locale. Without a locale, Java and R read the text as ASCII.
    const locale = { LC_ALL: 'C.UTF-8' };
    await run(source, directory, { ...started.environment, ...locale, OUT: out, ...environment });
    return await readFile(out);
  } catch (error) {
    if (process.env['SHOW_FAILURES'])
      process.stdout.write(`${client.name}: ${String(error).trim().slice(-600)}\n`);
    return undefined;
  }
}

const urlOf = (endExclusive: string) =>
  `${started.apiUrl}/reporting/publisherperformance?requestedFields=Day,PublisherAccountId,Clicks,Revenue` +
  `&startInclusive=2026-01-01T00:00:00Z&endExclusive=${endExclusive}&api-version=1.0`;

/** Clients that parse the values and write them in another form: then rows are compared, not bytes. */
const REWRITES = /^(pandas|polars|DuckDB)\b/;
const cellsOf = (csv: string): string => JSON.stringify(parse(csv));

/** Whether the program gets the report with the filter value `text` and this end of the window. */
async function gets(trial: Trial, text: string, end: string): Promise<boolean> {
  const written = await pull(trial, trial.source, { URL: urlOf(end), TEXT: text });
  const expected = guideReport([text], { end });
  if (!written) return false;
  return REWRITES.test(trial.client.name)
    ? cellsOf(written.toString()) === cellsOf(expected)
    : written.equals(Buffer.from(expected));
}

/** Calls `act` for all items, AT_A_TIME at once: more would test this machine, not the clients. */
async function inTurn<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
    }),
  );
}

const JANUARY = '2026-02-01T00:00:00Z';
const QUEUED = '2026-01-30';

const trialOf = (subject: Subject, source: string, isCured: boolean): Trial => ({
  ...{ ...subject, source, isCured, got: { atOnce: false, oddText: false, slow: false } },
});

let asked = 0;
/** An end of the window that no program has used yet, so the report needs a new query. */
function freshEnd(): string {
  asked += 1;
  return `${QUEUED}T12:${String(Math.floor(asked / 60)).padStart(2, '0')}:${String(asked % 60).padStart(2, '0')}Z`;
}

/**
 * Measures programs. AT_A_TIME of them pull ready reports at once. Each program that gets its ready report then also
 * pulls a slow report. All slow reports may be under way at once.
 */
async function measureOnce(trials: readonly Trial[]): Promise<void> {
  const slow: Promise<void>[] = [];
  await inTurn(trials, async (trial) => {
    const { got } = trial;
    got.atOnce = await gets(trial, 'Mobile', JANUARY);
    if (!got.atOnce) return;
    const pulling = gets(trial, 'Mobile', freshEnd());
    slow.push(pulling.then((isThere) => void Object.assign(got, { slow: isThere })));
    got.oddText = await gets(trial, ODD_TEXT, JANUARY);
  });
  await Promise.all(slow);
}

/**
 * Measures all programs. On a busy machine a client may reach its own time-out and miss a report, but it never gets a
 * report by accident. So programs that get fewer reports than they should are measured again.
 */
async function measure(trials: readonly Trial[], documented: ReadonlyMap<string, Row>): Promise<void> {
  await started.setFaults([{ on: 'query', match: `TIMESTAMP '${QUEUED}`, queuedMs: WAIT_SECONDS * 1_000 }]);
  const slowColumn = WAIT_SECONDS === 300 ? 'after300s' : 'after70s';
  const getsLess = ({ client, isCured, got: { atOnce, slow, oddText } }: Trial): boolean => {
    const row = isCured ? undefined : documented.get(client.name);
    const should = (column: 'atOnce' | 'withEdge' | typeof slowColumn) =>
      isCured || row?.[column] === mark(true);
    const shouldAtOnce = should('atOnce') || (hasEdge && should('withEdge'));
    return (shouldAtOnce && !atOnce) || (should(slowColumn) && !slow) || (shouldAtOnce && !oddText);
  };
  let left = trials;
  for (let round = 1; round <= ROUNDS && left.length > 0; round++) {
    await measureOnce(left);
    left = left.filter(getsLess);
  }
}

/**
 * Resolves to how the client handles a redirect. If its program sends no request without the cure, the program with the
 * cure is measured.
 */
async function probeClient(subject: Subject, name: string) {
  const environment = { API_URL: probe.origin, URL: `${probe.origin}/${name}?a=b`, TEXT: 'a' };
  for (const source of [subject.client.program, cured(subject.client)])
    if (!probe.seen(name).asks) await pull(subject, source, environment);
  return probe.seen(name);
}

function tokenOf({ sendsToken, follows, forwardsToken }: Omit<Seen, 'asksForGzip'>): string {
  if (!sendsToken) return 'not sent';
  if (!follows) return 'no redirect';
  return forwardsToken ? 'goes on' : 'stays';
}
const mark = (passed: boolean | undefined) => (passed ? '✓' : '✗');
const getsAll = ({ got: { atOnce, slow, oddText } }: Trial) => atOnce && slow && oddText;

it('every client pulls the reports that docs/clients.md names for it, and every report once its program has its cure', async () => {
  const namesOf = (trials: readonly Trial[]) => trials.map(({ client }) => client.name);
  const naive = subjects.map((subject) => trialOf(subject, subject.client.program, false));
  const healed = subjects
    .filter(({ client }) => client.cure)
    .map((subject) => trialOf(subject, cured(subject.client), true));
  const documented = await documentedRows();
  const withCure = clients.flatMap(({ name, cure }) => (cure ? [name] : []));
  expect([...cures.keys()]).toEqual(withCure);
  const withReason = [...documented.values()].filter(({ why }) => /\w/.test(why)).map(({ name }) => name);
  expect(withReason.sort()).toEqual([...withCure].sort());
  await measure([...naive, ...healed], documented);

  const rows: Row[] = [];
  await inTurn(naive, async (trial) => {
    const { client, got } = trial;
    const before = documented.get(client.name) ?? unmeasured(client.name);
    if (hasEdge) {
      rows.push({ ...before, withEdge: mark(got.atOnce) });
      return;
    }
    const { asksForGzip, ...seen } = await probeClient(trial, String(naive.indexOf(trial)));
    rows.push({
      ...before,
      atOnce: mark(got.atOnce),
      ...(WAIT_SECONDS === 70 && { after70s: mark(got.slow) }),
      ...(WAIT_SECONDS === 300 && { after300s: mark(got.slow) }),
      gzip: asksForGzip ? 'yes' : 'no',
      token: tokenOf(seen),
    });
  });
  // A program that gets a ready report also gets a report whose filter has special characters.
  expect(namesOf(naive.filter(({ got }) => got.atOnce !== got.oddText))).toEqual([]);
  const guide = await guideWith(rows, clients);
  if (isUpdate) await guide.write();

  const mustGetAll = [...healed, ...naive.filter(({ client }) => !client.cure)];
  const notCured = mustGetAll.filter((trial) => !getsAll(trial)).map(({ client, got }) => [client.name, got]);
  expect(notCured).toEqual([]);
  if (hasEdge) {
    const comesWithEdge = ({ withEdge }: Row) => withEdge === mark(true);
    const lost = rows.filter((row) => row.atOnce === mark(true) && !comesWithEdge(row));
    expect(lost.map(({ name }) => name)).toEqual([]);
    // A machine that lacks runtimes has fewer rows.
    if (rows.length === clients.length)
      expect(rows.filter(comesWithEdge).length).toBeGreaterThanOrEqual(LEAST_WITH_EDGE);
  }
  if (!isUpdate) expect(guide.says).toBe(guide.shouldSay);
  expect(documented.size).toBeGreaterThanOrEqual(30);
}, 1_800_000);
