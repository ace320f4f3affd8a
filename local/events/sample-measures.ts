import { quoteName } from '../../lib/report/quote-sql.ts';
import { below, chance, draw, skewedBelow } from './draws.ts';

/** The ratios of a table's counts. */
interface Funnel {
  /** By column: the number of events for every 100,000 events of the first column. */
  readonly counts: Readonly<Record<string, number>>;
  /**
   * The identifier (`placement`, `campaign`) whose number decides a factor from 0.5 to 1.5. In pre-aggregated records,
   * the factor multiplies every count but the first.
   */
  readonly appealOf: string;
}

const PER = 100_000;

const FUNNELS: readonly Funnel[] = [
  { counts: { served_ads: PER, placement_opens: 20_000, clicks: 1_900 }, appealOf: 'placement' },
  { counts: { impressions: PER, clicks: 1_600, conversions: 40 }, appealOf: 'campaign' },
];

const funnelOf = (counts: readonly string[]): Funnel | undefined =>
  FUNNELS.find((funnel) => counts.includes(Object.keys(funnel.counts)[0] as string));

/** The name of a count in the SQL that makes a record. No table has a column of such a name. */
export const counted = (column: string): string => `counted ${column}`;

const countIn = (column: string): string => quoteName(counted(column));

/** SQL for the facts on which a record's counts depend. `counts` are the columns that hold counts. */
export const recordFacts = (counts: readonly string[]): Readonly<Record<string, string>> => {
  const known = Object.values(funnelOf(counts)?.counts ?? {});
  const kinds = known.reduce((sum, count) => sum + count, 0);
  return { is_rollup: chance(70, 'rollup'), kind: below(kinds, draw('kind')) };
};

/** SQL for the first count of a pre-aggregated record. */
const ROLLED_UP = `(100 + ${below(501, draw('rolled up'))})`;

/**
 * SQL for a count. A raw event has 1 in one of its counts and 0 in the others. A pre-aggregated record holds many
 * events, so its counts are higher.
 */
export function countOf(column: string, counts: readonly string[]): string {
  const funnel = funnelOf(counts);
  const known = Object.entries(funnel?.counts ?? {});
  const index = known.findIndex(([name]) => name === column);
  // A column that is not in the table's funnel gets made-up counts.
  if (!funnel || index < 0)
    return `CASE WHEN is_rollup THEN 2 + ${below(60, draw(column))} WHEN ${chance(200, column)} THEN 1 ELSE 0 END`;
  const [, rate] = known[index] as [string, number];
  const from = known.slice(0, index).reduce((sum, [, before]) => sum + before, 0);
  const appeal = `(500 + ${below(1001, draw('appeal', funnel.appealOf))})`;
  const whole = PER * 1000;
  const several =
    index === 0
      ? ROLLED_UP
      : `(${ROLLED_UP} * ${rate} * ${appeal} + ${below(whole, draw(column))}) // ${whole}`;
  return `CASE WHEN is_rollup THEN ${several} WHEN kind BETWEEN ${from} AND ${from + rate - 1} THEN 1 ELSE 0 END`;
}

/**
 * SQL for the count of a coarser-level record, which has only this count. One in five of these records is
 * pre-aggregated. That is more than among the other records, but such a record holds fewer events.
 */
export const COARSER_COUNT = `CASE WHEN ${chance(200, 'coarser rollup')} THEN ${ROLLED_UP} * 2 // 5 ELSE 1 END`;

/** How an amount of money follows from a record's counts. */
interface Price {
  /** The counts that `amount` uses. */
  readonly of: readonly string[];
  /** SQL for the amount in millionths. */
  readonly amount: string;
}

const PRICES: Readonly<Record<string, Price>> = {
  // $0.80 to $3.20 for 1,000 ads, by placement.
  revenue: {
    of: ['served_ads'],
    amount: `${countIn('served_ads')} * (800 + ${below(2_400, draw('ad', 'placement'))})`,
  },
  // $1.50 to $6.00 for 1,000 impressions, or $0.15 to $0.40 for a click, by campaign.
  spend: {
    of: ['impressions', 'clicks'],
    amount: `CASE WHEN ${chance(300, 'paid by click', 'campaign')}
      THEN ${countIn('clicks')} * (150000 + ${below(250_000, draw('click', 'campaign'))})
      ELSE ${countIn('impressions')} * (1500 + ${below(4_500, draw('impression', 'campaign'))}) END`,
  },
  // $8 to $48 for a conversion.
  conversion_revenue: {
    of: ['conversions'],
    amount: `${countIn('conversions')} * (8000000 + ${below(40_000_000, draw('conversion'))})`,
  },
};

/** SQL for a made-up amount: 0 in 60 % of the records, and mostly small in the others. */
const madeUpAmount = (column: string): string =>
  `CASE WHEN ${chance(400, `${column} due`)} THEN 1 + ${skewedBelow(100_000, draw(column))} ELSE 0 END`;

/**
 * SQL for an amount of money to the millionth. The amount is the price of the record's counts, up to a tenth more or
 * less. In a few records it is a correction, below zero. A column gets made-up amounts if PRICES lacks it, or if the
 * table lacks a count of its price.
 */
export function moneyOf(column: string, counts: readonly string[]): string {
  const price = PRICES[column];
  const amount = price?.of.every((count) => counts.includes(count)) ? price.amount : madeUpAmount(column);
  const varies = draw(`${column} varies`);
  return `CAST((${amount}) * CASE WHEN ${below(1000, varies)} < 3 THEN -1000 ELSE 900 + ${below(201, varies)} END // 1000
   AS DECIMAL(18,0)) * 0.000001`;
}
