import type { EventRow } from '../../e2e/expected-report.ts';

/**
 * Records in several hours of two days, and one record outside the window. In the window, containers 100 and 101 have
 * records of placements, and container 102 has none.
 */
const RECORDS = [
  ['2026-01-02T10:15:00Z', 11n, 100n, 1n, 1n, 'tv'],
  ['2026-01-02T23:45:00Z', 12n, 100n, 2n, 1n, 'phone'],
  ['2026-01-03T10:30:00Z', 13n, 101n, 1n, 2n, null],
  ['2026-01-03T11:00:00Z', 11n, null, null, null, 'phone'],
  ['2026-01-02T10:20:00Z', null, 100n, 1n, 1n, 'tv'],
  ['2026-01-03T10:40:00Z', null, 101n, 2n, 2n, 'phone'],
  ['2026-01-03T12:00:00Z', null, 102n, 2n, null, 'tv'],
  ['2026-01-05T10:00:00Z', 13n, 102n, 1n, 1n, 'tv'],
] as const;

/** A window that holds every record except the last. */
export const WINDOW = { start: '2026-01-02T00:00:00Z', end: '2026-01-04T00:00:00Z' };

/** The records of both tables. Each record counts another power of two: a sum shows which records it includes. */
export const filterRecords: readonly EventRow[] = RECORDS.map(
  ([event_time, placement_id, container_id, account, company, device_or_proxy], index) => ({
    event_time,
    placement_id,
    container_id,
    publisher_account_id: account,
    publisher_company_id: company,
    advertiser_company_id: company,
    device_or_proxy,
    [placement_id === null ? 'container_opens' : 'placement_opens']: 1n << BigInt(index),
    clicks: 1n << BigInt(index),
  }),
);
