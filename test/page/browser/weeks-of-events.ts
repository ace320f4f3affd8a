import { money } from '../../e2e/expected-report.ts';
import type { KnownEvents } from '../../e2e/known-events.ts';

/** Events whose sums the tests can compute: two weeks in both tables, and one day with thousands of rows. */

const DAY_MS = 86_400_000;
/** The newest day is some days ago, so that no window changes if midnight comes in the middle of a test. */
const NEWEST_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;

/** The day `count` days before the newest day with events, `YYYY-MM-DD`. */
export const daysBack = (count: number): string =>
  new Date(NEWEST_MS - count * DAY_MS).toISOString().slice(0, 10);

export const OPEN_DAY = daysBack(0);
export const WEEK = { first: daysBack(6), last: OPEN_DAY };
export const FULL_DAY = daysBack(40);

const at = (day: string) => `${day}T12:00:00.000Z`;

export { money as amount };

/** Groups digits with commas, as the page shows them. */
export function withCommas(digits: string | bigint): string {
  const [whole = '', fraction] = String(digits).split('.');
  const grouped = BigInt(whole.replace('-', '')).toLocaleString('en-US');
  return `${whole.startsWith('-') ? '-' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

export const sumOf = <T>(rows: readonly T[], of: (row: T) => bigint): bigint =>
  rows.reduce((sum, row) => sum + of(row), 0n);

/** The devices, the one with the most served ads first. The last one has clicks but no served ads. */
export const DEVICES = [
  ...['Mobile', 'Desktop', 'Tablet', 'Television', 'Console', 'Watch', 'Kiosk', 'Car'],
  ...['Speaker', 'Glasses', 'Fridge', 'Reader', 'Camera', 'Drone', 'Scooter', 'Proxy'],
];

/** A row for each day of the two weeks, each device and each of three placements. */
export const deviceDays = Array.from({ length: 14 }, (_, back) =>
  DEVICES.flatMap((device, rank) =>
    [11n, 12n, 13n].map((placement) => ({
      back,
      device,
      placement,
      served: device === 'Proxy' ? 0n : BigInt(16 - rank) * 1_000n * placement + BigInt(back) * 71n,
      clicks: BigInt(16 - rank) * (placement + BigInt(back)),
      revenue: BigInt(16 - rank) * placement * 1_234_567n,
    })),
  ),
).flat();

type DeviceDay = (typeof deviceDays)[number];
/** The sum over the last seven days, of all devices or of one. */
export const weekOf = (of: (row: DeviceDay) => bigint, device?: string): bigint =>
  sumOf(
    deviceDays.filter((row) => row.back < 7 && (!device || row.device === device)),
    of,
  );

/** Among the last three rows, two ids and two clicks differ but are the same as JavaScript numbers. */
export const fullDay: readonly Pick<DeviceDay, 'placement' | 'clicks'>[] = [
  ...Array.from({ length: 4_000 }, (_, index) => ({
    placement: BigInt(index + 1),
    clicks: BigInt((index * 1_237) % 4_001),
  })),
  { placement: 9_007_199_254_740_993n, clicks: 9_007_199_254_740_992n },
  { placement: 9_007_199_254_740_992n, clicks: 9_007_199_254_740_993n },
  { placement: 9_007_199_254_740_994n, clicks: 9_007_199_254_740_991n },
];

export const publisher = { container_id: 1n, publisher_account_id: 7n, publisher_company_id: 1_000n };

export const weeksOfEvents: KnownEvents = {
  publisher_events: [
    ...deviceDays.map(({ back, device, placement, served, clicks, revenue }) => ({
      event_time: at(daysBack(back)),
      ...publisher,
      placement_id: placement,
      device_or_proxy: device,
      served_ads: served,
      clicks,
      revenue: money(revenue),
    })),
    ...fullDay.map(({ placement, clicks }) => ({
      event_time: at(FULL_DAY),
      ...publisher,
      placement_id: placement,
      device_or_proxy: 'Mobile',
      clicks,
    })),
  ],
  // Campaign 27 is only in the older week, 28 only in the newer one.
  advertiser_events: Array.from({ length: 14 }, (_, back) => ({
    event_time: at(daysBack(back)),
    advertiser_company_id: 2_000n,
    campaign_id: back < 7 ? 28n : 27n,
    clicks: 10n,
    spend: '12345.678901',
  })),
};
