import { below, chance, draw, skewedBelow } from './draws.ts';

/**
 * The kinds of events follow each other (an impression, a click, a conversion …). Of the events of a kind and of all
 * later kinds, this share is of a later kind.
 */
const LATER = 1 / 5;

/** SQL for the facts about a record on which its measures depend; `counts` is how many columns hold counts. */
export const recordFacts = (counts: number): Readonly<Record<string, string>> => ({
  is_rollup: chance(40, 'rollup'),
  counted: kindOf(counts, below(1000, draw('counted'))),
});

const kindOf = (counts: number, drawn: string): string => {
  if (counts <= 1) return '0';
  const kinds = Array.from(
    { length: counts - 1 },
    (_, index) => `WHEN ${drawn} < ${Math.floor(1000 * (1 - LATER ** (index + 1)))} THEN ${index}`,
  );
  return `CASE ${kinds.join(' ')} ELSE ${counts - 1} END`;
};

/** SQL for the n-th count: 1 in one of a raw event's, several in each of a pre-aggregated record's. */
export const countOf = (column: string, index: number): string =>
  `CASE WHEN is_rollup THEN ${several(column, index)} WHEN counted = ${index} THEN 1 ELSE 0 END`;

/** SQL for the one count of a record of the coarser level. */
export const coarserCountOf = (column: string): string =>
  `CASE WHEN is_rollup THEN ${several(column, 0)} ELSE 1 END`;

const several = (column: string, index: number): string =>
  `2 + ${below(Math.ceil(60 * LATER ** index), draw(column))}`;

/** SQL for an amount of money to the millionth: nothing in most records, below zero in a few corrections. */
export const moneyOf = (column: string): string =>
  `CASE WHEN ${chance(3, `${column} corrected`)} THEN -1 WHEN ${chance(400, `${column} due`)} THEN 1 ELSE 0 END
   * CASE WHEN is_rollup THEN 20 ELSE 1 END
   * CAST(1 + ${skewedBelow(5_000_000, draw(column))} AS DECIMAL(18,0)) * 0.000001`;
