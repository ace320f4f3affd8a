import { metricsOf, type Report } from '../../lib/report/catalogue.ts';
import { quoteName } from '../../lib/report/quote-sql.ts';
import { type Column, PARTITION_COLUMN, TIME_COLUMN, tableOf } from '../../lib/report/tables.ts';
import { below, chance, draw } from './draws.ts';
import type { SampleDay } from './sample-days.ts';
import { HIERARCHY, identifierOf } from './sample-identifiers.ts';
import { coarserCountOf, countOf, moneyOf, recordFacts } from './sample-measures.ts';
import { textOf } from './sample-texts.ts';

/** Keeps the numbers of the tables' records apart, so that they draw differently. */
const RECORDS_PER_TABLE = 1_000_000_000;

/**
 * SQL for the records of some days of a table, in an order that is always the same, with the partition's column as the
 * last one.
 */
export function sampleRows(report: Report, index: number, days: readonly SampleDay[]): string {
  const offset = index * RECORDS_PER_TABLE;
  const layers = [...HIERARCHY, factsOf(report)];
  const numbered = days.map(
    ({ day, start, first, end }) =>
      `SELECT range AS n, ${start} AS midnight, '${day}' AS ${PARTITION_COLUMN}
       FROM range(${offset + first}, ${offset + end})`,
  );
  const drawn = layers.reduce((rows, layer) => {
    const added = Object.entries(layer).map(([name, sql]) => `${sql} AS ${name}`);
    return `SELECT *, ${added.join(', ')} FROM (${rows})`;
  }, numbered.join(' UNION ALL '));
  const columns = tableOf(report).columns.map(
    (column) => `CAST(${valueIn(report, column)} AS ${storedType(column)}) AS ${quoteName(column.name)}`,
  );
  return `SELECT ${columns.join(', ')}, ${PARTITION_COLUMN} FROM (${drawn})`;
}

const countsOf = (report: Report): string[] =>
  metricsOf(report)
    .filter(({ type }) => type === 'integer')
    .map((metric) => (report.levels?.metric === metric ? report.levels.finerColumn : metric.column));

const factsOf = (report: Report): Readonly<Record<string, string>> => ({
  ...recordFacts(countsOf(report).length),
  is_coarser: report.levels ? chance(150, 'coarser') : 'false',
});

function valueIn(report: Report, { name, type }: Column): string {
  if (name === TIME_COLUMN) return TIME;
  const { levels } = report;
  if (levels?.metric.column === name) return `CASE WHEN is_coarser THEN ${coarserCountOf(name)} ELSE 0 END`;
  const count = countsOf(report).indexOf(name);
  if (count >= 0) return `CASE WHEN is_coarser THEN 0 ELSE ${countOf(name, count)} END`;
  if (type === 'decimal(18,6)') return `CASE WHEN is_coarser THEN 0 ELSE ${moneyOf(name)} END`;
  const value = type === 'varchar' ? textOf(name) : identifierOf(name);
  return levels?.finer.column === name ? `CASE WHEN is_coarser THEN NULL ELSE ${value} END` : value;
}

/**
 * Most traffic comes around noon (the sum of two even draws), some at any time, and a little in the first and
 * the last millisecond of the day, where windows begin and end.
 */
const TIME = `epoch_ms(midnight + CASE ${below(1000, draw('time of day'))} WHEN 0 THEN 0 WHEN 1 THEN 86399999 ELSE
     CASE WHEN ${chance(250, 'any time')} THEN ${below(86_400_000, draw('early time'))}
     ELSE ${below(43_200_000, draw('early time'))} + ${below(43_200_000, draw('late time'))} END END)`;

// Milliseconds: Athena reads no finer timestamps from Parquet.
const storedType = ({ type }: Column): string => (type === 'timestamp' ? 'TIMESTAMP_MS' : type);
