/** From a question to a report in the folder, with all that must be said of it. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure, shown, type Table } from './answer.ts';
import { type Job, runEngine } from './engine.ts';
import { addReport, type Pulled, reportsIn } from './folder.ts';
import type { Catalogue, Day, Errand, Field, Parameters, Service } from './service.ts';

export interface Question {
  readonly report: string;
  readonly requestedFields: readonly string[];
  readonly startInclusive: string;
  readonly endExclusive: string;
  readonly groupBy?: readonly string[] | undefined;
  readonly filter?: Readonly<Record<string, readonly string[]>> | undefined;
}

const DAY_MS = 86_400_000;
/** `days` takes as many at a time. */
export const MOST_DAYS = 400;
const MOST_RANGES = 6;
const LOAD_SECONDS = 1_800;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const TYPES: Readonly<Record<string, string>> = {
  datetime: 'TIMESTAMP',
  integer: 'BIGINT',
  float: 'DECIMAL(38, 6)',
};

/** The days of a window, `YYYY-MM-DD`. None if the service will refuse the window. */
export function daysOf([start, end]: Pulled['window']): string[] {
  if (!TIME.test(start) || !TIME.test(end) || !(Date.parse(start) < Date.parse(end))) return [];
  const first = Math.floor(Date.parse(start) / DAY_MS);
  const length = Math.ceil(Date.parse(end) / DAY_MS) - first;
  if (length > MOST_DAYS)
    throw new Failure(`${length} days. At most ${MOST_DAYS} are possible: ask several times.`);
  return Array.from({ length }, (_, nth) => new Date((first + nth) * DAY_MS).toISOString().slice(0, 10));
}

/** Days as ranges, in words. */
export function ranges(days: readonly string[]): string {
  const runs: string[][] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run && Date.parse(day) - Date.parse(String(run.at(-1))) === DAY_MS) run.push(day);
    else runs.push([day]);
  }
  const words = runs.map((run) => [...new Set([run[0], run.at(-1)])].join(' to '));
  const more = words.length > MOST_RANGES ? ` and others, ${days.length} days in all: see the tool days` : '';
  return words.slice(0, MOST_RANGES).join(', ') + more;
}

/** The state of a day in words. It is late if it is open after the time that the operator promised. */
function stateOf(day: Day | undefined): string {
  if (!day) return 'WITHOUT DATA';
  const isLate = day.state === 'open' && Date.parse(String(day['expectedAt'])) < Date.now();
  return `${day.state.toUpperCase()}${isLate ? ' and LATE' : ''}`;
}

/** The days that are other now than in the latest of these reports that has them. */
export function restatedDays(reports: readonly Pulled[], days: readonly string[], now: readonly Day[]) {
  return days.filter((day) => {
    const last = reports.find(({ window }) => daysOf(window).includes(day));
    return last && last.versions[day] !== now.find((one) => one.day === day)?.version;
  });
}

export function fieldsOf({ reports }: Catalogue, report: string): Field[] {
  const fields = reports.find(({ name }) => name === report)?.fields;
  if (fields) return fields;
  const names = reports.map(({ name }) => name).join(', ');
  throw new Failure(`There is no report ${shown(report)}. There are: ${names}.`);
}

/** Which days of a window have which state, in words. Final days are not worth a word. */
export function statesOf(days: readonly string[], now: readonly Day[]): Record<string, string> {
  const states = Map.groupBy(days, (day) => stateOf(now.find((one) => one.day === day)));
  states.delete('FINAL');
  return Object.fromEntries([...states].map(([state, some]) => [`days ${state}`, ranges(some)]));
}

/** Pulls a report, in parts that meet at midnights, and makes one file and one table of it. */
export async function makeReport(service: Service, folder: string, question: Question, errand: Errand) {
  const { report, requestedFields, startInclusive, endExclusive, groupBy, filter = {} } = question;
  const catalogue = await service.catalogue(errand);
  const fields = fieldsOf(catalogue, report);
  const window = [startInclusive, endExclusive] as const;
  const days = daysOf(window);
  const filters = Object.entries(filter).flatMap(([name, some]) => some.map((one) => [name, one] as const));
  const parameters: Parameters = [
    ['requestedFields', requestedFields.join(',')],
    ...(groupBy ? [['groupBy', groupBy.join(',')] as const] : []),
    ...filters.map(([name, value]) => [`filter[${name}]`, value] as const),
  ];
  // Before the report: what changes meanwhile then shows as restated. A wrong window is refused with the report.
  const now = days.length > 0 ? await service.days(report, window, errand) : [];
  const earlier = (await reportsIn(folder, service.owner)).filter((one) => one.report === report);
  const cuts = days.filter((_, nth) => nth > 0 && nth % catalogue.limits.windowDays === 0);
  const bounds = [startInclusive, ...cuts.map((day) => `${day}T00:00:00Z`), endExclusive];
  let first: Table = { columns: [], rows: [], rowsInAll: 0 };
  const pulled = await addReport(folder, report, async (making, table): Promise<Pulled> => {
    const [versions, parts]: [string[], string[]] = [[], []];
    for (const [nth, end] of bounds.slice(1).entries()) {
      errand.tell(`Part ${nth + 1} of ${bounds.length - 1}.`);
      const part = join(making, `part-${nth}.csv`);
      const version = await service.download(report, parameters, [String(bounds[nth]), end], part, errand);
      versions.push(version ?? 'UNKNOWN (the data changed meanwhile)');
      parts.push(part);
    }
    errand.tell('DuckDB reads the report.');
    const columns = requestedFields.flatMap((name) => fields.find((field) => field.name === name) ?? []);
    const [sums, rows] = await runEngine(loadJob(making, parts, columns), folder, errand.signal);
    const [rowsInAll = '', ...totals] = sums?.rows[0] ?? [];
    first = { columns: rows?.columns ?? [], rows: rows?.rows ?? [], rowsInAll: Number(rowsInAll) };
    const metrics = columns.filter(isMetric).map(({ name }, nth) => `${name} ${totals[nth] ?? 0}`);
    const pulledAt = new Date().toISOString();
    const some = versions.slice(0, 3).join(' + ');
    const facts = Object.entries({
      ...{ table, report, 'rows in all': String(rowsInAll), 'exact totals of all rows': metrics.join(', ') },
      'window (UTC)': window.join(' to '),
      filter: shown(filters.map((one) => one.join(' = ')).join(', ')),
      ...{ currency: catalogue.currency, ...statesOf(days, now) },
      'days RESTATED since an earlier table': ranges(restatedDays(earlier, days, now)),
      'counted by': fields.flatMap((field) => countedBy(field, question)).join(', '),
      'joined of': parts.length > 1 ? `${parts.length} reports, each with its own look-up of containers` : '',
      'data version': versions.length > 3 ? `${some} and ${versions.length - 3} more` : some,
      ...{ 'pulled at': pulledAt, file: join(folder, table, 'report.csv') },
      'SHA-256': await finishFile(making, parts, columns),
    });
    const versionsNow = Object.fromEntries(now.map(({ day, version }) => [day, version]));
    const told = Object.fromEntries(facts.filter(([, words]) => words !== ''));
    return { owner: service.owner, report, table, pulledAt, window, versions: versionsNow, facts: told };
  });
  return { first, pulled };
}

/** Which of two counts a metric has (docs/contract.md#opens). */
function countedBy({ name: metric, countedBy: by }: Field, { requestedFields }: Question): string[] {
  if (!by || !requestedFields.includes(metric)) return [];
  return [`${metric} by ${requestedFields.includes(by.whereGroupedBy) ? by.whereGroupedBy : by.otherwise}`];
}

const isMetric = ({ role }: Field) => role === 'metric';
const quoted = ({ name }: Field) => `"${name}"`;
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** Reads the parts into a database. The rows of several parts are summed, and written as CSV without a first line. */
function loadJob(making: string, parts: readonly string[], columns: readonly Field[]): Job {
  const types = columns.map(({ name, type }) => `${name}: '${TYPES[type] ?? 'VARCHAR'}'`);
  const sum = (field: Field) => `sum(${quoted(field)}) AS ${quoted(field)}`;
  const dimensions = columns.filter((field) => !isMetric(field)).map(quoted);
  const order = dimensions.map((one) => `${one} NULLS LAST`);
  const groups = dimensions.length > 0 ? `GROUP BY ${dimensions} ORDER BY ${order}` : '';
  const isTime = ({ type }: Field) => type === 'datetime';
  const time = (field: Field) => `strftime(${quoted(field)}, '%Y-%m-%dT%H:%M:%SZ') AS ${quoted(field)}`;
  const texts = columns.filter((field) => isTime(field) || field.type === 'string').map(quoted);
  const csv = `(FORMAT csv, HEADER false${texts.length > 0 ? `, FORCE_QUOTE (${texts})` : ''})`;
  const source = `read_csv([${parts.map(text)}], columns = {${types}}, auto_detect = false, header = true, delim = ',',
    quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
    buffer_size = 4_000_000)`;
  const joined = [
    `CREATE TEMP TABLE part AS FROM ${source}`,
    `CREATE TABLE report AS SELECT ${columns.map((field) => (isMetric(field) ? sum(field) : quoted(field)))} FROM part ${groups}`,
    `COPY (SELECT ${columns.map((field) => (isTime(field) ? time(field) : quoted(field)))} FROM report)
      TO ${text(join(making, 'rows.csv'))} ${csv}`,
  ];
  const load = parts.length > 1 ? joined : [`CREATE TABLE report AS FROM ${source}`];
  // What DuckDB does not count as memory is most when it writes.
  const before = ["SET memory_limit = '40MiB'", ...load, 'CHECKPOINT'];
  const sums = ['count(*)', ...columns.filter(isMetric).map(sum)];
  const selects = [`SELECT ${sums} FROM report`, 'FROM report LIMIT 500'];
  return { database: join(making, 'report.duckdb'), before, selects, seconds: LOAD_SECONDS };
}

/** Makes the whole file, in the form of the contract (docs/contract.md#the-file). Resolves to its SHA-256. */
async function finishFile(making: string, parts: readonly string[], columns: readonly Field[]) {
  const [file, rows, hash] = [join(making, 'report.csv'), join(making, 'rows.csv'), createHash('sha256')];
  if (parts.length === 1) await rename(String(parts[0]), file);
  else {
    await writeFile(file, `${columns.map(quoted)}\n`);
    await pipeline(createReadStream(rows), createWriteStream(file, { flags: 'a' }));
    for (const done of [...parts, rows]) await rm(done);
  }
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
