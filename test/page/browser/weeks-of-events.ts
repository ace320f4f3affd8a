import type { KnownEvents } from '../../e2e/known-events.ts';

/** Events of which every sum can be told by hand: two weeks of both tables, and one day of many rows. */

const DAY_MS = 86_400_000;
/** A few days ago: midnight, which may come in the middle of a test, changes no window then. */
const NEWEST_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;

/** The day `count` days before the newest day with events, `YYYY-MM-DD`. */
export const daysBack = (count: number): string =>
  new Date(NEWEST_MS - count * DAY_MS).toISOString().slice(0, 10);

/** The newest day, which is open. */
export const OPEN_DAY = daysBack(0);
/** A day of which there are thousands of rows. */
export const FULL_DAY = daysBack(40);

const at = (day: string) => `${day}T12:00:00.000Z`;

/** Millionths as the digits of an amount. */
export function amount(micros: bigint): string {
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** With commas, as the page shows digits. */
export function withCommas(digits: string | bigint): string {
  const [whole = '', fraction] = String(digits).split('.');
  const grouped = BigInt(whole.replace('-', '')).toLocaleString('en-US');
  return `${whole.startsWith('-') ? '-' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

export const sumOf = <T>(rows: readonly T[], of: (row: T) => bigint): bigint =>
  rows.reduce((sum, row) => sum + of(row), 0n);

export interface CampaignDay {
  readonly back: number;
  readonly campaign: bigint;
  readonly clicks: bigint;
  readonly spend: bigint;
}

/** What each campaign lost a day, in millionths, from one week to the next. */
const LOSSES: Readonly<Record<number, bigint>> = {
  20: 1_000_001n,
  21: 40_250_000n,
  22: -3_000_000n,
  23: 12_345_678n,
  24: 0n,
  25: 12_345_677n,
  26: 500_000n,
};

/** Campaigns in the two weeks: 27 ends with the first week, 28 begins with the second. */
export const campaignDays: readonly CampaignDay[] = Array.from({ length: 14 }, (_, back) => {
  const isNow = back < 7;
  const ofDay = Object.entries(LOSSES).map(([campaign, loss]) => ({
    campaign: BigInt(campaign),
    spend: BigInt(campaign) * 10_000_000n + BigInt(back) * 123_457n - (isNow ? loss : 0n),
  }));
  const alone = isNow ? { campaign: 28n, spend: 9_990_000n } : { campaign: 27n, spend: 33_333_333n };
  return [...ofDay, alone].map((row) => ({
    ...row,
    back,
    clicks: 10n * row.campaign,
    // Half a day, against a day on which one campaign spent more than ever: both would change the order.
    ...(back === 0 && { spend: row.spend / 10n }),
    ...(back === 7 && row.campaign === 24n && { spend: 9_000_000_000n }),
  }));
}).flat();

export interface DeviceDay {
  readonly back: number;
  readonly device: string;
  readonly placement: bigint;
  readonly served: bigint;
  readonly clicks: bigint;
  readonly revenue: bigint;
}

/** The largest first. Nothing is served to the last, which clicks nevertheless. */
export const DEVICES = [
  'Mobile',
  'Desktop',
  'Tablet',
  'Television',
  'Console',
  'Watch',
  'Kiosk',
  'Car',
  'Speaker',
  'Glasses',
  'Fridge',
  'Reader',
  'Camera',
  'Drone',
  'Scooter',
  'Proxy',
];

/** Every day of the two weeks: each device on each of three placements. */
export const deviceDays: readonly DeviceDay[] = Array.from({ length: 14 }, (_, back) =>
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

export interface FullRow {
  readonly placement: bigint;
  readonly clicks: bigint;
}

/** Of the three largest, a number that is not exact can tell neither the ids nor the clicks apart. */
export const fullDay: readonly FullRow[] = [
  ...Array.from({ length: 4_000 }, (_, index) => ({
    placement: BigInt(index + 1),
    clicks: BigInt((index * 1_237) % 4_001),
  })),
  { placement: 9_007_199_254_740_993n, clicks: 9_007_199_254_740_992n },
  { placement: 9_007_199_254_740_992n, clicks: 9_007_199_254_740_993n },
  { placement: 9_007_199_254_740_994n, clicks: 9_007_199_254_740_991n },
];

const publisher = { container_id: 1n, publisher_account_id: 7n, publisher_company_id: 1_000n };

export const weeksOfEvents: KnownEvents = {
  publisher_events: [
    ...deviceDays.map(({ back, device, placement, served, clicks, revenue }) => ({
      event_time: at(daysBack(back)),
      ...publisher,
      placement_id: placement,
      device_or_proxy: device,
      served_ads: served,
      clicks,
      revenue: amount(revenue),
    })),
    ...fullDay.map(({ placement, clicks }) => ({
      event_time: at(FULL_DAY),
      ...publisher,
      placement_id: placement,
      device_or_proxy: 'Mobile',
      clicks,
    })),
  ],
  advertiser_events: campaignDays.map(({ back, campaign, clicks, spend }) => ({
    event_time: at(daysBack(back)),
    advertiser_company_id: 2_000n,
    campaign_id: campaign,
    clicks,
    spend: amount(spend),
  })),
};
