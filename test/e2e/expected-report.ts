/**
 * Computes the expected report row by row, with exact integers, only from the words of the contract: this file shares
 * no code and no SQL with the service. For fields that came after the contract, it reads the columns from the
 * catalogue.
 */
import { type Field, reportOf } from '../../lib/report/catalogue.ts';

/** A record as it is written to Parquet: bigint for integers, text for money, ISO text for the time. */
export type EventRow = Readonly<Record<string, string | bigint | null>>;

export interface Question {
  readonly fields: readonly string[];
  readonly start: string;
  readonly end: string;
  readonly filters?: Readonly<Record<string, readonly string[]>>;
}

type Read = (row: EventRow) => string | bigint | null;

const hour: Read = (row) => `${String(row['event_time']).slice(0, 13)}:00:00Z`;
const day: Read = (row) => `${String(row['event_time']).slice(0, 10)}T00:00:00Z`;
const column =
  (name: string): Read =>
  (row) =>
    row[name] ?? null;

const PUBLISHER_SIDE = 'PlacementId ContainerId PublisherAccountId PublisherCompanyId DeviceOrProxy';
/** The contract's dimensions but the times, and its metrics but Opens. A column has its field's name in snake case. */
const DIMENSIONS: Readonly<Record<string, string>> = {
  publisherperformance: PUBLISHER_SIDE,
  advertiserperformance: `AdvertiserCompanyId CampaignId CampaignLineId CreativeId DemandOrigin ${PUBLISHER_SIDE}`,
};
const METRICS = 'ServedAds Clicks Revenue Impressions Conversions ConversionRevenue Spend';
const MONEY = ['Revenue', 'ConversionRevenue', 'Spend'];
const columnsOf = (fields = ''): [field: string, column: string][] =>
  fields.split(' ').map((field) => [field, field.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()]);

const readerOf = (field: Field): Read => {
  if (field.type !== 'datetime') return column(field.column);
  return field.grain === 'hour' ? hour : day;
};

/** The columns of a report's fields: those of the contract, and for later fields those of the catalogue. */
function fieldsOf(report: string) {
  const columns = columnsOf(DIMENSIONS[report]).map(([field, name]) => [field, column(name)]);
  const dimensions: Record<string, Read> = { DateTime: hour, Day: day, ...Object.fromEntries(columns) };
  const metrics: Record<string, string> = Object.fromEntries(columnsOf(METRICS));
  const money = [...MONEY];
  for (const field of reportOf(report)?.fields ?? [])
    if (field.role === 'dimension') dimensions[field.name] ??= readerOf(field);
    else if (field.name !== 'Opens' && !(field.name in metrics)) {
      metrics[field.name] = field.column;
      if (field.type === 'float') money.push(field.name);
    }
  return { dimensions, metrics, money };
}

/** The report's CSV, byte for byte (docs/contract.md#the-two-reports). */
export function expectedReport(report: string, rows: readonly EventRow[], question: Question): string {
  const { dimensions, metrics, money: amounts } = fieldsOf(report);
  const filters = Object.entries(question.filters ?? {});
  const inWindow = rows.filter((row) => {
    const time = Date.parse(String(row['event_time']));
    return time >= Date.parse(question.start) && time < Date.parse(question.end);
  });
  /** Whether a publisher record is container-level. Every filter on placements leaves such a record out. */
  const isOfContainer = (row: EventRow) => row['placement_id'] === null && report === 'publisherperformance';
  const passes = (row: EventRow, leftOut?: string) =>
    filters.every(([field, wanted]) => {
      if (field === leftOut) return true;
      if (field === 'PlacementId' && isOfContainer(row)) return false;
      const value = dimensions[field]?.(row) ?? null;
      return value !== null && wanted.includes(String(value));
    });

  const grouped = question.fields.filter((field) => field in dimensions);
  const wantsOpens = question.fields.includes('Opens');
  const byPlacement = grouped.includes('PlacementId') && report === 'publisherperformance';
  const placements = question.filters?.['PlacementId'];

  /** The rows that every metric sums. With a filter on placements, container-level Opens come from `opened`. */
  const counted = inWindow.filter((row) => passes(row) && !(byPlacement && row['placement_id'] === null));
  const opened: EventRow[] = [];
  if (wantsOpens && placements && !byPlacement) {
    const isOfPlacement = (row: EventRow) => placements.includes(String(row['placement_id']));
    const ofPlacements = inWindow.filter((row) => !isOfContainer(row) && isOfPlacement(row));
    const containers = new Set(ofPlacements.map((row) => row['container_id']));
    containers.delete(null);
    const isOpened = (row: EventRow) =>
      row['placement_id'] === null && containers.has(row['container_id'] ?? null);
    opened.push(...inWindow.filter((row) => isOpened(row) && passes(row, 'PlacementId')));
  }

  const groups = new Map<string, { key: (string | bigint | null)[]; sums: Map<string, bigint> }>();
  const groupOf = (row: EventRow) => {
    const key = grouped.map((field) => dimensions[field]?.(row) ?? null);
    const id = JSON.stringify(key.map((value) => (typeof value === 'bigint' ? `${value}n` : value)));
    const group = groups.get(id) ?? { key, sums: new Map() };
    groups.set(id, group);
    return group;
  };
  const add = (sums: Map<string, bigint>, metric: string, amount: bigint) =>
    sums.set(metric, (sums.get(metric) ?? 0n) + amount);

  for (const row of counted) {
    const { sums } = groupOf(row);
    for (const [metric, name] of Object.entries(metrics))
      add(sums, metric, amounts.includes(metric) ? micros(row[name]) : whole(row[name]));
    add(sums, 'Opens', whole(row[byPlacement ? 'placement_opens' : 'container_opens']));
  }
  for (const row of opened) add(groupOf(row).sums, 'Opens', whole(row['container_opens']));
  if (grouped.length === 0 && groups.size === 0) groups.set('', { key: [], sums: new Map() });

  const lines = [...groups.values()]
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ key, sums }) =>
      question.fields
        .map((field) => {
          const at = grouped.indexOf(field);
          if (at >= 0) return textOf(key[at] ?? null);
          const sum = sums.get(field) ?? 0n;
          return amounts.includes(field) ? money(sum) : String(sum);
        })
        .join(','),
    );
  return `${[question.fields.map((field) => `"${field}"`).join(','), ...lines].join('\n')}\n`;
}

const whole = (value: string | bigint | null | undefined) => BigInt(value ?? 0);

/** An amount in millionths. */
export function micros(value: string | bigint | null | undefined): bigint {
  if (value === null || value === undefined) return 0n;
  const [, sign, units, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(String(value)) ?? [];
  const amount = BigInt(units ?? '') * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  return sign ? -amount : amount;
}

/** The digits of an amount in millionths: `2500000` becomes `2.500000`. */
export function money(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

const textOf = (value: string | bigint | null) => {
  if (value === null) return '';
  return typeof value === 'bigint' ? String(value) : `"${value.replaceAll('"', '""')}"`;
};

function compareKeys(a: readonly (string | bigint | null)[], b: readonly (string | bigint | null)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null;
    if (left === right) continue;
    if (left === null) return 1;
    if (right === null) return -1;
    if (typeof left === 'bigint') return left < (right as bigint) ? -1 : 1;
    return Buffer.compare(Buffer.from(left), Buffer.from(right as string));
  }
  return 0;
}
