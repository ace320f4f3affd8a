import { advertiserReport, publisherReport } from '../lib/report/catalogue.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import type { Question } from './questions.ts';

const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const DAYS = 59;
const LENGTHS = [1, 7, 14, 31, 32];
const SHAPES: readonly Omit<Question, 'firstDay' | 'days'>[] = [
  { report: publisherReport, fields: ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['DateTime', 'DeviceOrProxy', 'ServedAds'] },
  { report: publisherReport, fields: ['PlacementId', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['Day', 'PublisherCompanyId', 'ServedAds', 'Revenue'] },
  { report: advertiserReport, fields: ['Day', 'CampaignId', 'Impressions', 'Clicks', 'Spend'] },
  { report: advertiserReport, fields: ['CampaignLineId', 'CreativeId', 'Conversions'] },
];

/** Gives pseudo-random numbers and the questions that are drawn with them. The same seed gives the same draws. */
export function drawsOf(seed: number) {
  let state = seed;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 0x8000_0000) * below);
  };
  const oneOf = <T>(values: readonly T[]): T => values[draw(values.length)] as T;
  const question = (): Question => {
    const days = oneOf(LENGTHS);
    const firstDay = utcDay(FIRST_DAY + draw(DAYS - days) * DAY_MS);
    const isFiltered = draw(3) === 0;
    return {
      ...oneOf(SHAPES),
      firstDay,
      days,
      ...(isFiltered && { filters: { PublisherCompanyId: String(1000 + draw(20)) } }),
    };
  };
  return { draw, oneOf, question };
}
