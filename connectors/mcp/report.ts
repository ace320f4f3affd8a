/** From a question to a report in the folder, with all that must be said of it. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { Failure, inert, type Table } from './answer.ts';
import { daysOf, statesOf } from './days.ts';
import { runEngine, sqlText } from './engine.ts';
import { type Errand, type Field, NAME, type Service, type Window } from './service.ts';

const UTC = z.string().max(40).describe('UTC, YYYY-MM-DDThh:mm:ssZ; the end itself is excluded');
const NAMES = z.array(z.string().min(1).max(60)).min(1).max(60);
const FILTER = z.record(z.string().max(60), z.array(z.string().max(256)).min(1).max(200));
const REPORT = NAME.describe('a report of describe, such as publisherperformance');
export const WINDOW = z.strictObject({ report: REPORT, startInclusive: UTC, endExclusive: UTC });
export const QUESTION = WINDOW.extend({
  requestedFields: NAMES.describe('names of describe: dimensions, by which it is grouped, and metrics'),
  filter: FILTER.optional().describe('values by dimension; all must match, any of the values of each'),
  groupBy: NAMES.optional().describe('not needed; if given, all requested dimensions'),
}).describe(`Pulls a report of at most 400 days, waits for it, and keeps it as a CSV file and as a table for query. Shows its
first rows and exact totals. A report by Day and one or two dimensions answers many questions: let query do the rest.`);

/** A report in the folder, what every answer says of it, and its first rows. */
export type Pulled = Awaited<ReturnType<typeof makeReport>>;

const [CSV, PARQUET] = ['report.csv', 'report.parquet'];
const KEPT_MS = 86_400_000;
const LOAD_SECONDS = 1_800;
const FORMS = { datetime: 'TIMESTAMP', integer: 'BIGINT', float: 'DECIMAL(38, 6)', string: 'VARCHAR' };

/** Makes the folder of the reports, the user's alone, and removes from it what is older than a day. */
export async function openFolder(): Promise<string> {
  process.umask(0o077);
  const folder = join(homedir(), '.cache', 'performance-reports-mcp');
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  for (const path of (await readdir(folder)).map((name) => join(folder, name))) {
    const age = Date.now() - ((await lstat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (age > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
  return folder;
}

/** Pulls a report, in parts that meet at midnights, and makes one file and one table of it. */
export async function makeReport(
  service: Service,
  folder: string,
  { report, startInclusive, endExclusive, requestedFields, groupBy, filter = {} }: z.infer<typeof QUESTION>,
  errand: Errand,
) {
  const window: Window = [startInclusive, endExclusive];
  const { limits, currency, reports } = await service.catalogue(errand);
  const fields = reports.find(({ name }) => name === report)?.fields;
  if (!fields) throw new Failure(`There is no such report. There are: ${reports.map(({ name }) => name)}.`);
  // Before the report: what changes meanwhile then shows as restated. A wrong window is refused here.
  const days = await service.days(report, window, errand);
  const columns = requestedFields.flatMap((name) => fields.find((field) => field.name === name) ?? []);
  const filters = Object.entries(filter).flatMap(([name, some]) => some.map((one) => [name, one]));
  const parameters = [
    ['requestedFields', requestedFields.join()],
    ...(groupBy ? [['groupBy', groupBy.join()]] : []),
    ...filters.map(([name, value]) => [`filter[${name}]`, value]),
  ];
  const cuts = daysOf(window).filter((_, nth) => nth > 0 && nth % limits.windowDays === 0);
  const bounds = [startInclusive, ...cuts.map((day) => `${day}T00:00:00Z`), endExclusive];
  const table = `${report.toLowerCase()}_${randomBytes(4).toString('hex')}`;
  // The folder gets its name when it is complete.
  const [making, made] = [join(folder, `.${table}`), join(folder, table)];
  await mkdir(making);
  try {
    const [parts, versions]: [string[], string[]] = [[], []];
    for (const [nth, end] of bounds.slice(1).entries()) {
      errand.tell(`Part ${nth + 1} of ${bounds.length - 1}.`);
      const part = join(making, `part-${nth}.csv`);
      const version = await service.download(report, parameters, [bounds[nth] ?? '', end], part, errand);
      parts.push(part);
      versions.push(version ?? 'UNKNOWN (the data changed meanwhile)');
    }
    errand.tell('DuckDB reads the report.');
    const metrics = columns.filter(isMetric);
    const selects = [`SELECT ${['count(*)', ...metrics.map(sum)]} FROM ${table}`, `FROM ${table} LIMIT 500`];
    const tables = { [table]: join(making, PARQUET) };
    const job = { before: loading(parts, making, columns), tables, selects, seconds: LOAD_SECONDS };
    const results = await runEngine(job, folder, errand.signal);
    const [rowsInAll, ...totals] = results[0]?.rows[0] ?? [];
    const first: Table = { columns: [], rows: [], ...results[1], rowsInAll: Number(rowsInAll) };
    if (parts.length === 1) await rename(String(parts[0]), join(making, CSV));
    else for (const part of parts) await rm(part);
    const sha256 = createHash('sha256');
    await pipeline(createReadStream(join(making, CSV)), sha256, { signal: errand.signal });
    await rename(making, made);
    const facts = {
      ...{ table, report, 'rows in all': String(rowsInAll) },
      'exact totals of all rows': metrics.map(({ name }, nth) => `${name} ${totals[nth] ?? 0}`).join(', '),
      'window (UTC)': window.join(' to '),
      filter: inert(filters.map((one) => one.join(' = ')).join(', ')),
      ...{ currency, ...statesOf(daysOf(window), days) },
      'joined of': parts.length > 1 ? `${parts.length} reports, each with its own look-up of containers` : '',
      'data version': versions.slice(0, 3).join(' + ') + (versions.length > 3 ? ' and others' : ''),
      'pulled at': new Date().toISOString(),
      ...{ file: join(made, CSV), 'SHA-256': sha256.digest('hex') },
    };
    return { report, window, days, table, parquet: join(made, PARQUET), facts, first };
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
  const source = `read_csv([${parts.map(sqlText)}], columns = {${types}}, auto_detect = false, header = true, delim = ',',
    quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
    buffer_size = 4_000_000)`;
  // DuckDB does not count the group of rows that it holds for the file.
  const parquet = `TO ${table} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480)`;
  if (parts.length === 1) return [`COPY (FROM ${source}) ${parquet}`];
  const dimensions = columns.filter((field) => !isMetric(field)).map(quoted);
  const values = columns.map((field) =>
    isMetric(field) ? `${sum(field)}::${FORMS[field.type]} AS ${quoted(field)}` : quoted(field),
  );
  const order = dimensions.map((one) => `${one} NULLS LAST`);
  const groups = dimensions.length > 0 ? `GROUP BY ${dimensions} ORDER BY ${order}` : '';
  const texts = columns.filter(({ type }) => type === 'datetime' || type === 'string').map(quoted);
  const quotes = texts.length > 0 ? `, FORCE_QUOTE (${texts})` : '';
  return [
    `COPY (SELECT ${values} FROM ${source} ${groups}) ${parquet}`,
    `COPY (FROM ${table}) TO ${csv} (FORMAT csv, HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ'${quotes})`,
  ];
}
