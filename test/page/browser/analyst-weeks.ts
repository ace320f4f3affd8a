import type { KnownEvents } from '../../e2e/known-events.ts';
import { amount, publisher, sumOf } from './weeks-of-events.ts';

/** Two weeks of events, on the same weekdays whenever a test runs, with figures for the tasks of an analyst. */

const DAY_MS = 86_400_000;
/** A Monday three to four weeks ago. 1970-01-05 was a Monday. */
const MONDAY_MS = (Math.floor((Date.now() / DAY_MS - 4) / 7) - 3) * 7 * DAY_MS + 4 * DAY_MS;
/** The day so many days after that Monday, `YYYY-MM-DD`. */
export const day = (after: number): string => new Date(MONDAY_MS + after * DAY_MS).toISOString().slice(0, 10);
const DAYS = Array.from({ length: 14 }, (_, index) => index - 7);
/** The newest day, a Sunday, which is open. */
export const OPEN = 6;
export const TUE_TO_FRI = { first: day(1), last: day(4) };
export const CAMPAIGNS = { report: 'advertiserperformance', requestedFields: 'CampaignId,Spend' };

/**
 * The spend of campaign 31 on each of the days. From Tuesday to Friday it is 908; on the same weekdays before,
 * 1000 (-9.20 %); on the four days just before, Friday to Monday, 715.4 (+26.92 %).
 */
const SPENT = [240, 250, 250, 250, 250, 100, 115.4, 250, 227, 227, 227, 227, 90, 11];
const spendOn = (day: number): bigint => BigInt((SPENT[day + 7] ?? 0) * 1_000_000);
export const spent = (days: readonly number[]) => sumOf(days, spendOn);
/** Campaign 32 ended with the older week, 33 began with the newer one. */
export const ENDED = 77_000_001n;
export const BEGUN = 44_000_000n;

export const PLACEMENT_OPENS = 3n;
/** The opens of the container on each day. */
export const CONTAINER_OPENS = 500n;

/** A placement id that no spreadsheet keeps as a number. */
const LONG_ID = 9_007_199_254_740_993n;
type Hour = (typeof hours)[number];
/** A record for each hour of each day and each of two placements, with clicks that tell all of them apart. */
const hours = DAYS.flatMap((one) =>
  Array.from({ length: one === OPEN ? 10 : 24 }, (_, hour) =>
    [LONG_ID, 12n].map((placement) => ({
      day: one,
      hour,
      placement,
      device: placement === 12n ? 'Desktop' : 'Mobile',
      clicks: BigInt((one + 8) * 1_000 + hour * 7) + (placement === 12n ? 3n : 0n),
      served: 50_000n + BigInt(hour),
      revenue: 1_234_567n + BigInt(hour),
    })),
  ),
).flat();

/** The sum over all hours of these days, of both devices or of one. */
export const hoursOf = (of: (hour: Hour) => bigint, days: readonly number[], device?: string): bigint =>
  sumOf(
    hours.filter((hour) => days.includes(hour.day) && (!device || hour.device === device)),
    of,
  );

const at = (one: number, hour = 12) => `${day(one)}T${String(hour).padStart(2, '0')}:30:00.000Z`;
export const analystWeeks: KnownEvents = {
  publisher_events: [
    ...hours.map(({ day: one, hour, placement, device, clicks, served, revenue }) => ({
      event_time: at(one, hour),
      ...publisher,
      placement_id: placement,
      device_or_proxy: device,
      served_ads: served,
      placement_opens: PLACEMENT_OPENS,
      clicks,
      revenue: amount(revenue),
    })),
    ...DAYS.map((one) => ({
      event_time: at(one),
      ...publisher,
      placement_id: null,
      container_opens: CONTAINER_OPENS,
    })),
  ],
  advertiser_events: DAYS.flatMap((one) =>
    [
      { campaign_id: 31n, spend: amount(spendOn(one)) },
      one < 0 ? { campaign_id: 32n, spend: amount(ENDED) } : { campaign_id: 33n, spend: amount(BEGUN) },
    ].map((row) => ({ event_time: at(one), advertiser_company_id: 2_000n, ...row })),
  ),
};
