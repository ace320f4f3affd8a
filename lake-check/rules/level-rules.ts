import { counted } from '../../lib/terminal/counted.ts';
import type { Finding, Rule } from '../finding.ts';
import { type FileFacts, filesOf, type ValueFacts } from '../lake-facts.ts';
import { type LevelColumns, levelColumns } from '../report-columns.ts';

/** A rule about records with a value in a column that is not for their level. It makes one finding per file. */
const onLevels =
  (
    count: (values: ValueFacts) => number,
    describe: (columns: LevelColumns, count: string) => Omit<Finding, 'paths'>,
  ): Rule =>
  ({ tables }) =>
    tables.flatMap((table) => {
      const columns = levelColumns(table.report);
      if (!columns) return [];
      return filesOf(table).flatMap(({ path, values }: FileFacts) => {
        const found = values ? count(values) : 0;
        return found > 0 ? [{ paths: [path], ...describe(columns, counted(found, 'record')) }] : [];
      });
    });

const finerCountsInCoarser = onLevels(
  ({ finerWithCoarser }) => finerWithCoarser,
  ({ finer, finerCount, coarserCount }, records) => ({
    severity: 'wrong',
    column: coarserCount,
    found: `${records} with a ${finer} and with a count in it: reports by ${finer} leave that out, all others add it`,
    needed: `0 where ${finer} is set; those records count in ${finerCount}`,
    cure: `Write the files again with these counts in records of their own, without a ${finer}.`,
  }),
);

const coarserCountsInFiner = onLevels(
  ({ coarserWithFiner }) => coarserWithFiner,
  ({ finer, finerCount, coarserCount }, records) => ({
    severity: 'wrong',
    column: finerCount,
    found: `${records} without a ${finer} and with a count in it: no report ever shows that`,
    needed: `0 where ${finer} is NULL; those records count in ${coarserCount}`,
    cure: `Write the files again: name the ${finer}, or move the count to ${coarserCount}.`,
  }),
);

const coarserCountsOthers = onLevels(
  ({ coarserWithOthers }) => coarserWithOthers,
  ({ finer, coarserCount, others }, records) => ({
    severity: 'warning',
    column: finer,
    found: `${records} without a ${finer}, but with ${others.join(', ')}: reports by ${finer} leave them out, so that their totals are smaller than those of other reports`,
    needed: `only ${coarserCount} where ${finer} is NULL`,
    cure: `Where the ${finer} is known, write the file again with it. Where it is not, do nothing: the totals differ rightly.`,
  }),
);

export const levelRules: readonly Rule[] = [finerCountsInCoarser, coarserCountsInFiner, coarserCountsOthers];
