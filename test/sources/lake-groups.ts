import { join } from 'node:path';
import { micros, money } from '../e2e/expected-report.ts';
import { openWriter } from '../tools/make-parquet.ts';

/** The columns that identify a group. `hour` is `YYYY-MM-DD HH`, in UTC. */
const KEYS = 'hour placement_id publisher_account_id publisher_company_id device_or_proxy'.split(' ');
const COUNTS = ['served_ads', 'placement_opens', 'container_opens', 'clicks'] as const;

/** Records with equal keys: the keys, the number of records, and the sums of counts and of revenue, all as text. */
export type Group = readonly (string | null)[];

/** The groups of a lake's publisher_events. If a record is in another day's folder, its group has no hour. */
export async function groupsIn(lake: string): Promise<readonly Group[]> {
  using reader = await openWriter(lake);
  const [, ...dimensions] = KEYS;
  const keys = [
    `CASE WHEN day = CAST(event_time AS DATE) THEN strftime(event_time, '%Y-%m-%d %H') END`,
    ...dimensions.map((name) => `${name}::VARCHAR`),
  ];
  const sums = [...COUNTS, 'revenue'].map(
    (name) => `coalesce(sum(${name}), 0)::DECIMAL(38, ${name === 'revenue' ? 6 : 0})::VARCHAR`,
  );
  const rows = await reader.rows(
    `SELECT ${[...keys, 'count(*)::VARCHAR', ...sums].join(', ')}
     FROM read_parquet('${join(lake, 'publisher_events/*/*.parquet')}', hive_partitioning = true, hive_types = {day: DATE})
     GROUP BY ALL`,
  );
  return inOrder(rows as Group[]);
}

export const inOrder = (groups: readonly Group[]): readonly Group[] =>
  groups
    .map((group) => [JSON.stringify(group), group] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => group);

/** The sum of each measure over all groups, as `convert` prints it. */
export function totalsOf(groups: readonly Group[]): Readonly<Record<string, string>> {
  const total = (index: number, numberOf: (text: string) => bigint) =>
    groups.reduce((sum, group) => sum + numberOf(String(group[KEYS.length + 1 + index])), 0n);
  return {
    ...Object.fromEntries(COUNTS.map((name, index) => [name, String(total(index, BigInt))])),
    revenue: money(total(COUNTS.length, micros)),
  };
}
