import { TIME_COLUMN } from '../../lib/report/tables.ts';
import { counted } from '../../lib/terminal/counted.ts';
import { fits } from '../column-types.ts';
import type { Finding, Rule } from '../finding.ts';
import { convertLake } from '../lake-commands.ts';
import { type DayFacts, type FileFacts, filesOf } from '../lake-facts.ts';
import { companyColumn, countColumns } from '../report-columns.ts';

/** The number of records, in words. If only the footers were read, the number is not known. */
const records = (count: number | undefined): string =>
  count === undefined ? 'some records' : counted(count, 'record');

const statisticsOf = (file: FileFacts, column: string) => file.footer?.statistics.get(column);

const timesAreThere: Rule = ({ tables }) =>
  tables.flatMap((table) =>
    filesOf(table)
      .filter((file) => (file.values?.withoutTime ?? sum(statisticsOf(file, TIME_COLUMN)?.nulls)) > 0)
      .map((file) => ({
        severity: 'wrong' as const,
        paths: [file.path],
        column: TIME_COLUMN,
        found: `${records(file.values?.withoutTime)} without a time: counted in whole days, but in no hour`,
        needed: 'an instant in every record',
        cure: 'Write the file again from its source, with the times: nothing else knows them.',
      })),
  );

const sum = (values: readonly (number | undefined)[] = []): number =>
  values.reduce((total: number, value) => total + (value ?? 0), 0);

const timesLieInTheirDay: Rule = ({ location, tables }) =>
  tables.flatMap(({ days }) =>
    days.flatMap(({ day, files }) =>
      files
        .filter((file) => (file.values ? file.values.outsideDay > 0 : reachesOutside(day, file)))
        .map((file) => ({
          severity: 'wrong' as const,
          paths: [file.path],
          column: TIME_COLUMN,
          found: `${records(file.values?.outsideDay)} of another day than the folder: Day and DateTime disagree`,
          needed: 'the UTC day of event_time is the folder’s',
          cure: `Run ${convertLake(location)}: it takes the day from the time.`,
        })),
    ),
  );

/** Whether the footer shows a time outside the day. Only the bounds of timestamps are in microseconds. */
function reachesOutside(day: string, file: FileFacts): boolean {
  if (!fits('timestamp', file.footer?.types.get(TIME_COLUMN) ?? '')) return false;
  const { min = [], max = [] } = statisticsOf(file, TIME_COLUMN) ?? {};
  const start = Date.parse(day) * 1_000;
  return [...min, ...max].some(
    (time) => typeof time === 'bigint' && (time < start || time >= start + DAY_US),
  );
}

const DAY_US = 86_400_000_000;

const noRoundingIntoNextHour: Rule = ({ location, tables }) =>
  tables.flatMap((table) =>
    filesOf(table)
      .filter(({ values }) => values && values.roundedIntoNextHour > 0)
      .map(({ path, values }) => ({
        severity: 'wrong' as const,
        paths: [path],
        column: TIME_COLUMN,
        found: `${records(values?.roundedIntoNextHour)} finer than a millisecond, at the very end of an hour: Athena rounds them into the next hour`,
        needed: 'milliseconds',
        cure: `Run ${convertLake(location)}: it cuts times to the millisecond.`,
      })),
  );

const countsAreNotNegative: Rule = ({ tables }) =>
  tables.flatMap((table) =>
    filesOf(table).flatMap((file) =>
      countColumns(table.report)
        .filter((name) => isNegative(file, name))
        .map(
          (name): Finding => ({
            severity: 'wrong',
            paths: [file.path],
            column: name,
            found: `${records(file.values?.negative.get(name))} with a count below 0`,
            needed: 'counts of 0 and more',
            cure: 'If they are corrections, write the day again with corrected counts: 7, and not 10 and -3. Else mend them at the source.',
          }),
        ),
    ),
  );

function isNegative({ values, footer }: FileFacts, column: string): boolean {
  if (values) return (values.negative.get(column) ?? 0) > 0;
  const type = footer?.types.get(column);
  const lowest = footer?.statistics.get(column)?.min ?? [];
  return (
    type !== undefined &&
    fits('bigint', type) &&
    lowest.some((value) => typeof value === 'bigint' && value < 0)
  );
}

const LARGEST_TOTAL = 2n ** 63n - 1n;

const totalsFit: Rule = ({ tables }) =>
  tables.flatMap((table) =>
    table.days.flatMap(({ day, files }: DayFacts) =>
      countColumns(table.report)
        .filter((name) => total(files, name) > LARGEST_TOTAL)
        .map((name) => ({
          severity: 'fails' as const,
          paths: files.map(({ path }) => path),
          column: name,
          found: `${day} adds up to more than 64 bits hold`,
          needed: `a total of at most ${LARGEST_TOTAL}`,
          cure: 'Look in this column for values that are no counts, such as identifiers or times, and write the day again.',
        })),
    ),
  );

const total = (files: readonly FileFacts[], column: string): bigint =>
  files.reduce((sum, { values }) => sum + (values?.totals.get(column) ?? 0n), 0n);

const companiesAreThere: Rule = ({ tables }) =>
  tables.flatMap((table) =>
    filesOf(table)
      .filter(({ values }) => values && values.withoutCompany > 0)
      .map((file) => ({
        severity: 'warning' as const,
        paths: [file.path],
        column: companyColumn(table.report),
        found: `${records(file.values?.withoutCompany)} without a company: seen only by callers who may see every company`,
        needed: 'the company of each record',
        cure: 'If they belong to no company, do nothing. Else write the file again with their company.',
      })),
  );

/** The engines leave out the row groups whose bounds say that nothing in them is asked for. */
const boundsHold: Rule = ({ location, tables }) =>
  tables.flatMap((table) =>
    filesOf(table).flatMap(({ path, values }) =>
      [...(values?.falseBounds ?? [])].map(
        ([column, found]): Finding => ({
          severity: 'wrong',
          paths: [path],
          column,
          found: `the footer says falsely: ${found}. Engines skip records by that`,
          needed: 'a footer that is true of the values',
          cure: `Run ${convertLake(location)}: it reads all values, and writes a true footer.`,
        }),
      ),
    ),
  );

export const valueRules: readonly Rule[] = [
  boundsHold,
  timesAreThere,
  timesLieInTheirDay,
  noRoundingIntoNextHour,
  countsAreNotNegative,
  totalsFit,
  companiesAreThere,
];
