import { type ColumnType, TIME_COLUMN } from '../../lib/report/tables.ts';
import { counted } from '../../lib/terminal/counted.ts';
import { fits } from '../column-types.ts';
import { convertLake } from '../commands.ts';
import { type Fault, inFiles, inTables, onRecords, type Rule } from '../finding.ts';
import type { Footer } from '../lake-facts.ts';
import { DAY_US } from '../read-values.ts';
import { companyColumn, countColumns, type LevelColumns, levelColumns } from '../report-columns.ts';

/** The engines leave out the row groups whose bounds say that nothing in them is asked for. */
const boundsHold = inFiles(({ values }, _, { location }) =>
  [...(values?.falseBounds ?? [])].map(([column, found]) => ({
    severity: 'wrong',
    column,
    found: `the footer says falsely: ${found}. Engines skip records by that`,
    needed: 'a footer that is true of the values',
    cure: `Run ${convertLake(location)}: it reads all values, and writes a true footer.`,
  })),
);

const timesAreThere = onRecords(
  ({ withoutTime }) => withoutTime,
  (records) => ({
    severity: 'wrong',
    column: TIME_COLUMN,
    found: `${records} without a time: counted in whole days, but in no hour`,
    needed: 'an instant in every record',
    cure: 'Write the file again from its source, with the times: nothing else knows them.',
  }),
  ({ statistics }) => (statistics.get(TIME_COLUMN)?.nulls ?? []).some((count) => Number(count) > 0),
);

const timesLieInTheirDay = onRecords(
  ({ outsideDay }) => outsideDay,
  (records, _, { location }) => ({
    severity: 'wrong',
    column: TIME_COLUMN,
    found: `${records} of another day than the folder: Day and DateTime disagree`,
    needed: 'the UTC day of event_time is the folder’s',
    cure: `Run ${convertLake(location)}: it takes the day from the time.`,
  }),
  (footer, day) => {
    const start = Date.parse(day) * 1_000;
    return boundsIn(footer, 'timestamp', TIME_COLUMN).some((time) => time < start || time >= start + DAY_US);
  },
);

/** The numbers that a footer gives as bounds of a column, if the engines read the column as this type. */
function boundsIn({ types, statistics }: Footer, type: ColumnType, column: string): bigint[] {
  const { min, max } = statistics.get(column) ?? { min: [], max: [] };
  return fits(type, types.get(column) ?? '')
    ? [...min, ...max].filter((bound) => typeof bound === 'bigint')
    : [];
}

const noRoundingIntoNextHour = onRecords(
  ({ roundedIntoNextHour }) => roundedIntoNextHour,
  (records, _, { location }) => ({
    severity: 'wrong',
    column: TIME_COLUMN,
    found: `${records} finer than a millisecond, at the very end of an hour: Athena rounds them into the next hour`,
    needed: 'milliseconds',
    cure: `Run ${convertLake(location)}: it cuts times to the millisecond.`,
  }),
);

const countsAreNotNegative = inFiles(({ values, footer }, { report }) =>
  countColumns(report).flatMap((column) => {
    const count = values?.negative.get(column) ?? 0;
    const isThere = values
      ? count > 0
      : footer && boundsIn(footer, 'bigint', column).some((bound) => bound < 0);
    if (!isThere) return [];
    return {
      severity: 'wrong',
      column,
      found: `${values ? counted(count, 'record') : 'some records'} with a count below 0`,
      needed: 'counts of 0 and more',
      cure: 'If they are corrections, write the day again with corrected counts: 7, and not 10 and -3. Else mend them at the source.',
    };
  }),
);

const LARGEST_TOTAL = 2n ** 63n - 1n;

const totalsFit = inTables(({ days, report }) =>
  days.flatMap(({ day, files }) =>
    countColumns(report).flatMap((column) => {
      const total = files.reduce((sum, { values }) => sum + (values?.totals.get(column) ?? 0n), 0n);
      return {
        severity: 'fails',
        paths: total > LARGEST_TOTAL ? files.map(({ path }) => path) : [],
        column,
        found: `${day} adds up to more than 64 bits hold`,
        needed: `a total of at most ${LARGEST_TOTAL}`,
        cure: 'Look in this column for values that are no counts, such as identifiers or times, and write the day again.',
      };
    }),
  ),
);

const companiesAreThere = onRecords(
  ({ withoutCompany }) => withoutCompany,
  (records, { report }) => ({
    severity: 'warning',
    column: companyColumn(report),
    found: `${records} without a company: seen only by callers who may see every company`,
    needed: 'the company of each record',
    cure: 'If they belong to no company, do nothing. Else write the file again with their company.',
  }),
);

/** A rule about records with a value in a column that is not for their level. */
const onLevels = (
  fault: 'finerWithCoarser' | 'coarserWithFiner' | 'coarserWithOthers',
  describe: (columns: LevelColumns, records: string) => Fault,
): Rule =>
  onRecords(
    (values) => values[fault],
    (records, { report }) => describe(levelColumns(report) as LevelColumns, records),
  );

const finerCountsInCoarser = onLevels('finerWithCoarser', ({ finer, finerCount, coarserCount }, records) => ({
  severity: 'wrong',
  column: coarserCount,
  found: `${records} with a ${finer} and with a count in it: reports by ${finer} leave that out, all others add it`,
  needed: `0 where ${finer} is set; those records count in ${finerCount}`,
  cure: `Write the files again with these counts in records of their own, without a ${finer}.`,
}));

const coarserCountsInFiner = onLevels('coarserWithFiner', ({ finer, finerCount, coarserCount }, records) => ({
  severity: 'wrong',
  column: finerCount,
  found: `${records} without a ${finer} and with a count in it: no report ever shows that`,
  needed: `0 where ${finer} is NULL; those records count in ${coarserCount}`,
  cure: `Write the files again: name the ${finer}, or move the count to ${coarserCount}.`,
}));

const coarserCountsOthers = onLevels('coarserWithOthers', ({ finer, coarserCount, others }, records) => ({
  severity: 'warning',
  column: finer,
  found: `${records} without a ${finer}, but with ${others.join(', ')}: reports by ${finer} leave them out, so that their totals are smaller than those of other reports`,
  needed: `only ${coarserCount} where ${finer} is NULL`,
  cure: `Where the ${finer} is known, write the file again with it. Where it is not, do nothing: the totals differ rightly.`,
}));

export const valueRules: readonly Rule[] = [
  ...[boundsHold, timesAreThere, timesLieInTheirDay, noRoundingIntoNextHour, countsAreNotNegative],
  ...[totalsFit, companiesAreThere, finerCountsInCoarser, coarserCountsInFiner, coarserCountsOthers],
];
