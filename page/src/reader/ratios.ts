import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';

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

// No ratio uses Opens, because a report counts opens at two levels (lib/report/catalogue.ts, Levels).
const ratios: Readonly<Record<string, readonly Ratio[]>> = {
  [publisherReport.name]: [
    {
      name: 'CTR',
      meaning: 'Clicks per hundred served ads.',
      numerator: 'Clicks',
      denominator: 'ServedAds',
      factor: 100,
      unit: 'percent',
    },
    {
      name: 'eCPM',
      meaning: 'Revenue per thousand served ads.',
      numerator: 'Revenue',
      denominator: 'ServedAds',
      factor: 1_000,
      unit: 'amount',
    },
    {
      name: 'Revenue per click',
      meaning: 'Revenue divided by clicks.',
      numerator: 'Revenue',
      denominator: 'Clicks',
      factor: 1,
      unit: 'amount',
    },
  ],
  [advertiserReport.name]: [
    {
      name: 'CTR',
      meaning: 'Clicks per hundred impressions.',
      numerator: 'Clicks',
      denominator: 'Impressions',
      factor: 100,
      unit: 'percent',
    },
    {
      name: 'eCPM',
      meaning: 'Spend per thousand impressions.',
      numerator: 'Spend',
      denominator: 'Impressions',
      factor: 1_000,
      unit: 'amount',
    },
    {
      name: 'CPC',
      meaning: 'Spend per click.',
      numerator: 'Spend',
      denominator: 'Clicks',
      factor: 1,
      unit: 'amount',
    },
    {
      name: 'Conversion rate',
      meaning: 'Conversions per hundred clicks.',
      numerator: 'Conversions',
      denominator: 'Clicks',
      factor: 100,
      unit: 'percent',
    },
    {
      name: 'Cost per conversion',
      meaning: 'Spend divided by conversions.',
      numerator: 'Spend',
      denominator: 'Conversions',
      factor: 1,
      unit: 'amount',
    },
    {
      name: 'ROAS',
      meaning: 'Revenue from conversions per unit of spend.',
      numerator: 'ConversionRevenue',
      denominator: 'Spend',
      factor: 1,
      unit: 'times',
    },
  ],
};

/** The report's ratios, without those that need a metric that is not among the fields. */
export const ratiosOf = (report: string, fields: readonly string[]): readonly Ratio[] =>
  (ratios[report] ?? []).filter(
    ({ numerator, denominator }) => fields.includes(numerator) && fields.includes(denominator),
  );

/** The unit of a ratio, by its name. */
export const unitOf = (name: string): Ratio['unit'] | undefined =>
  Object.values(ratios)
    .flat()
    .find((ratio) => ratio.name === name)?.unit;
