/** From a question to a report in the FOLDER, with all that must be said of it. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { Failure, inert } from './answer.ts';
import { runEngine, sqlText } from './engine.ts';
import { DAY_MS, type Day, type Errand, type Field, type Service, WINDOW } from './service.ts';

const NAMES = z.array(z.string().min(1).max(60)).min(1).max(60);
const FILTER = z.record(z.string().max(60), z.array(z.string().max(256)).min(1).max(200));
export const QUESTION = WINDOW.extend({
  requestedFields: NAMES.describe('names of describe: dimensions, by which it is grouped, and metrics'),
  filter: FILTER.optional().describe('values by dimension; all must match, any of the values of each'),
  groupBy: NAMES.optional().describe('not needed; if given, all requested dimensions'),
}).describe(`Pulls a report of at most 400 days, waits for it, and keeps it as a CSV file and as a table for query. Shows its
first rows and exact totals. A report by Day and one or two dimensions answers many questions: let query do the rest.`);

/** A report in the FOLDER, what every answer says of it, and its first rows. */
export type Pulled = Awaited<ReturnType<typeof makeReport>>;

export const FOLDER = join(homedir(), '.cache', 'performance-reports-mcp');
const [CSV, PARQUET] = ['report.csv', 'report.parquet'];
const MOST_RANGES = 12;
const LOAD_SECONDS = 1_800;
const FORMS = { datetime: 'TIMESTAMP', integer: 'BIGINT', float: 'DECIMAL(38, 6)', string: 'VARCHAR' };

/** Makes the folder of the reports, the user's alone, and removes from it what is older than a day. */
export async function openFolder(): Promise<void> {
  process.umask(0o077);
  await mkdir(FOLDER, { recursive: true });
  await chmod(FOLDER, 0o700);
  for (const path of (await readdir(FOLDER)).map((name) => join(FOLDER, name))) {
    const age = Date.now() - ((await lstat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (age > DAY_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Pulls a report, in parts that meet at midnights, and makes one file and one table of it. */
export async function makeReport(service: Service, question: z.infer<typeof QUESTION>, errand: Errand) {
  const { requestedFields, groupBy, filter = {}, ...window } = question;
  const { report, startInclusive, endExclusive } = window;
  const { limits, currency, reports } = await service.catalogue(errand);
  const fields = reports.find(({ name }) => name === report)?.fields;
  if (!fields) throw new Failure(`There is no such report. There are: ${reports.map(({ name }) => name)}.`);
  // Before the report: what changes meanwhile then shows as restated. A wrong window is refused here.
  const days = await service.days(window, errand);
  const columns = requestedFields.flatMap((name) => fields.find((field) => field.name === name) ?? []);
  const filters = Object.entries(filter).flatMap(([of, some]) => some.map((one) => [`filter[${of}]`, one]));
  const groups = groupBy ? [['groupBy', groupBy.join()]] : [];
  const parameters = [['requestedFields', requestedFields.join()], ...groups, ...filters];
  const cuts = days.filter((_, nth) => nth > 0 && nth % limits.windowDays === 0);
  const bounds = [startInclusive, ...cuts.map(({ day }) => `${day}T00:00:00Z`), endExclusive];
  const table = `${report.toLowerCase()}_${randomBytes(4).toString('hex')}`;
  // The folder gets its name when it is complete.
  const [making, made] = [join(FOLDER, `.${table}`), join(FOLDER, table)];
  await mkdir(making);
  try {
    const versions: string[] = [];
    const parts = bounds.slice(1).map((_, nth) => join(making, `part-${nth}.csv`));
    for (const [nth, part] of parts.entries()) {
      errand.tell(`Part ${nth + 1} of ${parts.length}.`);
      const some = { report, startInclusive: String(bounds[nth]), endExclusive: String(bounds[nth + 1]) };
      const version = await service.download(some, parameters, part, errand);
      versions.push(version ?? 'UNKNOWN (the data changed meanwhile)');
    }
    errand.tell('DuckDB reads the report.');
    const metrics = columns.filter(isMetric);
    const selects = [`SELECT ${['count(*)', ...metrics.map(sum)]} FROM ${table}`, `FROM ${table} LIMIT 500`];
    const tables = { [table]: join(making, PARQUET) };
    const job = { before: loading(parts, making, columns), tables, selects, seconds: LOAD_SECONDS };
    const [all, first] = await runEngine(job, FOLDER, errand.signal);
    const [rowsInAll, ...totals] = all?.rows[0] ?? [];
    if (parts.length === 1) await rename(String(parts[0]), join(making, CSV));
    else for (const part of parts) await rm(part);
    const sha256 = createHash('sha256');
    await pipeline(createReadStream(join(making, CSV)), sha256, { signal: errand.signal });
    await rename(making, made);
    const facts = {
      ...{ table, report, 'rows in all': String(rowsInAll) },
      'exact totals of all rows': metrics.map(({ name }, nth) => `${name} ${totals[nth] ?? 0}`).join(', '),
      'window (UTC)': `${startInclusive} to ${endExclusive}`,
      filter: inert(filters.map((one) => one.join(' = ')).join(', ')),
      ...{ currency, ...statesOf(days) },
      'joined of': parts.length > 1 ? `${parts.length} reports, each with its own look-up of containers` : '',
      'data version': versions.join(' + '),
      'pulled at': new Date().toISOString(),
      ...{ file: join(made, CSV), 'SHA-256': sha256.digest('hex') },
    };
    const rows = { columns: [], rows: [], ...first, rowsInAll: Number(rowsInAll) };
    return { window, days, table, parquet: join(made, PARQUET), facts, first: rows };
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

const isMetric = ({ role }: Field) => role === 'metric';
const quoted = ({ name }: Field) => `"${name}"`;
const sum = (field: Field) => `sum(${quoted(field)})`;

/** The statements that make a table of the parts. Of several parts, the rows are summed, and written as CSV, too. */
function loading(parts: readonly string[], making: string, columns: readonly Field[]): string[] {
  const [csv, table] = [CSV, PARQUET].map((name) => sqlText(join(making, name)));
  const types = columns.map((field) => `${field.name}: '${FORMS[field.type]}'`);
  // Several threads may begin inside a quoted text, so it is one.
  const source = `read_csv([${parts.map(sqlText)}], columns = {${types}}, auto_detect = false, header = true, quote = '"',
    new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false, buffer_size = 4_000_000)`;
  // DuckDB does not count the group of rows that it holds for the file.
  const parquet = `TO ${table} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480)`;
  if (parts.length === 1) return [`COPY (FROM ${source}) ${parquet}`];
  const dimensions = columns.filter((field) => !isMetric(field)).map(quoted);
  const values = columns.map((field) =>
    isMetric(field) ? `${sum(field)}::${FORMS[field.type]} AS ${quoted(field)}` : quoted(field),
  );
  const texts = columns.filter(({ type }) => type === 'datetime' || type === 'string').map(quoted);
  const quotes = texts.length > 0 ? `, FORCE_QUOTE (${texts})` : '';
  return [
    `COPY (SELECT ${values} FROM ${source} GROUP BY ALL ORDER BY ${[...dimensions, 1]}) ${parquet}`,
    `COPY (FROM ${table}) TO ${csv} (FORMAT csv, HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ'${quotes})`,
  ];
}

/** Days as ranges. Days in a row are as many days apart as they are places apart. */
function ranges(days: readonly Day[]): string {
  const runs = Map.groupBy(days, ({ day }, nth) => Date.parse(day) - nth * DAY_MS);
  const words = [...runs.values()].map((run) => [...new Set([run[0]?.day, run.at(-1)?.day])].join(' to '));
  const left = words.length > MOST_RANGES ? ` and others, ${days.length} days in all: see the tool days` : '';
  return words.slice(0, MOST_RANGES).join(', ') + left;
}

/** Which days have which state. Final days are not worth a word. A day is late after it was expected. */
export function statesOf(days: readonly Day[]): Record<string, string> {
  const states = Map.groupBy(days, ({ state, expectedAt = '' }) => {
    const isLate = state !== 'final' && Date.parse(expectedAt) < Date.now();
    return `${state.toUpperCase()}${isLate ? ' and LATE' : ''}`;
  });
  states.delete('FINAL');
  return Object.fromEntries([...states].map(([state, some]) => [`days ${state}`, ranges(some)]));
}

/** The days of a window that are other now than they were before. */
export const restated = (before: readonly Day[], now: readonly Day[]): string =>
  ranges(now.filter(({ version }, nth) => version !== before[nth]?.version));
