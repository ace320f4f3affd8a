import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import { quotientText } from './decimal.ts';
import type { Numbers } from './number-column.ts';
import type { Ordering } from './sort-rows.ts';

/** The decimal places of a change in percent. */
export const PERCENT_PLACES = 2;

/** A ratio, or a change in percent: one column divided by another, multiplied by a factor, with some decimal places. */
export interface Quotients {
  readonly dividend: Numbers;
  readonly divisor: Numbers;
  readonly factor: number;
  readonly places: number;
}

/** The quotient of two values or two sums; null if a value is missing or the divisor is zero. */
export function quotientOf(
  { dividend, divisor, factor, places }: Quotients,
  above: bigint | undefined,
  below: bigint | undefined,
): string | null {
  if (above === undefined || below === undefined) return null;
  return quotientText(
    above * BigInt(factor) * 10n ** BigInt(divisor.places),
    below * 10n ** BigInt(dividend.places),
    places,
  );
}

export const quotientAt = (quotients: Quotients, row: number): string | null =>
  quotientOf(quotients, quotients.dividend.exact(row), quotients.divisor.exact(row));

/** Sorts quotients as floating-point numbers. The table does not show differences that such numbers cannot express. */
export const orderOfQuotients = ({ dividend, divisor }: Quotients): Ordering => ({
  key(row) {
    const below = divisor.near(row);
    return below === 0 ? Number.NaN : dividend.near(row) / below;
  },
});

export const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** A figure that is one metric divided by another. For many rows, it is the ratio of their sums. */
export interface Ratio {
  readonly name: string;
  readonly meaning: string;
  /** The name of the metric that is divided. */
  readonly numerator: string;
  /** The name of the metric that divides. */
  readonly denominator: string;
  /** The fraction is multiplied by this factor. */
  readonly factor: 1 | 100 | 1_000;
  readonly unit: 'percent' | 'amount' | 'times';
}

type Listed = readonly [
  name: string,
  meaning: string,
  numerator: string,
  denominator: string,
  factor: Ratio['factor'],
  unit: Ratio['unit'],
];

// No ratio uses Opens, because a report counts opens at two levels (lib/report/catalogue.ts, Levels).
const RATIOS: Readonly<Record<string, readonly Listed[]>> = {
  [publisherReport.name]: [
    ['CTR', 'Clicks per hundred served ads.', 'Clicks', 'ServedAds', 100, 'percent'],
    ['eCPM', 'Revenue per thousand served ads.', 'Revenue', 'ServedAds', 1_000, 'amount'],
    ['Revenue per click', 'Revenue divided by clicks.', 'Revenue', 'Clicks', 1, 'amount'],
  ],
  [advertiserReport.name]: [
    ['CTR', 'Clicks per hundred impressions.', 'Clicks', 'Impressions', 100, 'percent'],
    ['eCPM', 'Spend per thousand impressions.', 'Spend', 'Impressions', 1_000, 'amount'],
    ['CPC', 'Spend per click.', 'Spend', 'Clicks', 1, 'amount'],
    ['Conversion rate', 'Conversions per hundred clicks.', 'Conversions', 'Clicks', 100, 'percent'],
    ['Cost per conversion', 'Spend divided by conversions.', 'Spend', 'Conversions', 1, 'amount'],
    ['ROAS', 'Revenue from conversions per unit of spend.', 'ConversionRevenue', 'Spend', 1, 'times'],
  ],
};

const ratios = Object.entries(RATIOS).flatMap(([report, listed]) =>
  listed.map(([name, meaning, numerator, denominator, factor, unit]) => ({
    report,
    ratio: { name, meaning, numerator, denominator, factor, unit } satisfies Ratio,
  })),
);

/** The report's ratios, without those that need a metric that is not among the fields. */
export const ratiosOf = (report: string, fields: readonly string[]): readonly Ratio[] =>
  ratios.flatMap(({ report: its, ratio }) =>
    its === report && fields.includes(ratio.numerator) && fields.includes(ratio.denominator) ? [ratio] : [],
  );

/** The unit of a ratio, by its name. */
export const unitOf = (name: string): Ratio['unit'] | undefined =>
  ratios.find(({ ratio }) => ratio.name === name)?.ratio.unit;
