import { describe, expect, it } from 'vitest';
import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { ratiosOf } from '../../../page/src/reader/ratios.ts';
import { ADVERTISER, PUBLISHER } from './stored.ts';

const namesOf = (report: string, fields: string) =>
  ratiosOf(report, fields.split(' ')).map(({ name }) => name);

describe('ratiosOf', () => {
  it.each([
    [PUBLISHER, 'Day ServedAds Clicks Revenue', ['CTR', 'eCPM', 'Revenue per click']],
    [PUBLISHER, 'Revenue ServedAds', ['eCPM']],
    [PUBLISHER, 'Opens Clicks', []],
    [ADVERTISER, 'Impressions Clicks', ['CTR']],
    [
      ADVERTISER,
      'Impressions Clicks Conversions ConversionRevenue Spend',
      ['CTR', 'eCPM', 'CPC', 'Conversion rate', 'Cost per conversion', 'ROAS'],
    ],
    ['nothing', 'Clicks ServedAds', []],
  ])('returns the ratios of the report %s for the fields %s', (report, fields, expected) => {
    expect(namesOf(report, fields)).toEqual(expected);
  });

  it('divides only metrics of the report, but never Opens', () => {
    for (const name of [PUBLISHER, ADVERTISER]) {
      const report = reportOf(name);
      const metrics = report?.fields.filter(({ role }) => role === 'metric').map((field) => field.name) ?? [];
      const ratios = ratiosOf(name, metrics);
      expect(ratios.length).toBeGreaterThan(2);
      for (const { numerator, denominator, meaning } of ratios) {
        expect(report && [fieldOf(report, numerator)?.role, fieldOf(report, denominator)?.role]).toEqual([
          'metric',
          'metric',
        ]);
        expect([numerator, denominator]).not.toContain('Opens');
        expect(meaning).toMatch(/^[A-Z][^.]*\.$/);
      }
    }
  });
});
