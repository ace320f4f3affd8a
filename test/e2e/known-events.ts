import { measureColumns } from '../../lake-check/report-columns.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { type Column, tables } from '../../lib/report/tables.ts';
import { dice as randomNumbers } from '../worlds/random.ts';
import type { EventRow } from './expected-report.ts';

const measures = new Set(reports.flatMap(measureColumns));
/** Whether a column holds counts or amounts to be summed. */
export const isMeasure = (column: string): boolean => measures.has(column);

/** A reproducible stream of numbers in [0, 1): the same seed gives the same events. */
export { randomNumbers };

/** Values that have broken CSV writers, SQL builders and sorters. */
export const AWKWARD_TEXT = [
  ...['desktop', 'phone'],
  // The text begins with a byte order mark, which decoders remove.
  '\ufeffphone',
  `O'Brien" OR 1=1 --`,
  'comma, Inc.',
  ...['line one\nline two', 'return\r\n', ' padded ', '', '"', '""', "'", '?', 'NULL'],
  ...['Zürich', '日本語', '🦊', '﷽', 'back\\slash', '=1+1'],
  'a'.repeat(256),
];

/** The largest and smallest amounts of `decimal(18,6)`, the amounts nearest to 0, and some that floats can't hold. */
const AMOUNTS =
  '0.1 0.2 0.000001 -0.000001 -12.5 1234567.891011 999999999999.999999 -999999999999.999999 0'.split(' ');
const COUNTS = [0n, 1n, 1n, 1n, 2n, 17n, 9_007_199_254_740_993n];

/** Times of day at the edges of hours and days, where off-by-one errors show. */
const TIMES = [
  ...['00:00:00.000', '00:59:59.999', '01:00:00.000', '10:29:59.999'],
  ...['10:30:00.000', '10:59:59.999', '23:00:00.000', '23:59:59.999'],
];

export type KnownEvents = Readonly<Record<string, EventRow[]>> & {
  readonly publisher_events: EventRow[];
  readonly advertiser_events: EventRow[];
};

/**
 * Records of 2026-02-01, and of each day from 2025-12-30 to 2026-01-06 except 2026-01-04. Among many records, every
 * column but `event_time` is NULL in some.
 */
export function knownEvents(seed: number, count: number): KnownEvents {
  const random = randomNumbers(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const id = (base: bigint, span: number) =>
    random() < 0.05 ? null : base + BigInt(Math.floor(random() * span));
  const orNull = <T>(value: T, share = 0.03) => (random() < share ? null : value);
  const days = [
    ...['2025-12-30', '2025-12-31', '2026-01-01', '2026-01-02'],
    ...['2026-01-03', '2026-01-05', '2026-01-06', '2026-02-01'],
  ];
  const time = () => `${pick(days)}T${pick(TIMES)}Z`;
  const huge = pick([9_223_372_036_854_775_807n]);

  const publisherSide = () => ({
    container_id: id(100n, 4),
    publisher_account_id: id(-2n, 4),
    publisher_company_id: random() < 0.02 ? huge : id(1_000n, 3),
    device_or_proxy: orNull(pick(AWKWARD_TEXT)),
  });
  const contracts = {
    publisher_events: Array.from({ length: count }, () => {
      const atContainer = random() < 0.3;
      return {
        event_time: time(),
        placement_id: atContainer ? null : 10n + BigInt(Math.floor(random() * 6)),
        ...publisherSide(),
        served_ads: atContainer ? 0n : orNull(pick(COUNTS)),
        placement_opens: atContainer ? 0n : orNull(pick(COUNTS)),
        container_opens: atContainer ? orNull(pick(COUNTS)) : 0n,
        clicks: orNull(pick(COUNTS)),
        revenue: orNull(pick(AMOUNTS)),
      };
    }),
    advertiser_events: Array.from({ length: count }, () => ({
      event_time: time(),
      advertiser_company_id: id(1n, 4),
      campaign_id: id(20n, 5),
      campaign_line_id: id(30n, 6),
      creative_id: id(40n, 7),
      demand_origin: orNull(pick(AWKWARD_TEXT)),
      placement_id: id(10n, 6),
      ...publisherSide(),
      impressions: orNull(pick(COUNTS)),
      clicks: orNull(pick(COUNTS)),
      conversions: orNull(pick(COUNTS)),
      conversion_revenue: orNull(pick(AMOUNTS)),
      spend: orNull(pick(AMOUNTS)),
    })),
  };
  return { ...contracts, ...withLaterColumns(seed, contracts, () => ({ event_time: time() })) };
}

/**
 * Adds the columns and tables that `contracts` lacks. Their values come from a separate random stream, so the values in
 * `contracts` stay the same if a column is added.
 */
function withLaterColumns(
  seed: number,
  contracts: Readonly<Record<string, readonly EventRow[]>>,
  emptyRow: () => EventRow,
): Record<string, EventRow[]> {
  const random = randomNumbers(seed + 1);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const value = ({ name, type }: Column): string | bigint | null => {
    if (random() < 0.03) return null;
    if (type === 'varchar') return pick(AWKWARD_TEXT);
    if (type === 'decimal(18,6)') return pick(AMOUNTS);
    return isMeasure(name) ? pick(COUNTS) : 1_000n + BigInt(Math.floor(random() * 3));
  };
  const count = contracts['publisher_events']?.length ?? 0;
  return Object.fromEntries(
    tables.map(({ name, columns }) => [
      name,
      (contracts[name] ?? Array.from({ length: count }, emptyRow)).map((row) => ({
        ...Object.fromEntries(
          columns.filter((column) => !(column.name in row)).map((column) => [column.name, value(column)]),
        ),
        ...row,
      })),
    ]),
  );
}
