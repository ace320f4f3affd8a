import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '../../lib/report/quote-sql.ts';
import { type InputPlan, RECORD } from './plan-input.ts';

/** Reads a file once and lists what of it can't be converted without losing something. */
export async function findLosses(connection: DuckDBConnection, plan: InputPlan): Promise<string[]> {
  const checks = plan.checks.filter(({ isLost }) => isLost !== 'false');
  const aggregates = checks.flatMap(({ isLost, shown }) => [
    `count_if(${isLost})`,
    `any_value(CAST(${shown} AS VARCHAR)) FILTER (${isLost})`,
  ]);
  const record = plan.values.map(({ name, value }) => `${quoteName(name)}: ${value}`);
  const sql = `SELECT ${aggregates.join(', ')}
    FROM (SELECT *, {${record.join(', ')}} AS ${RECORD} FROM ${plan.file.reader})`;
  const reader = await connection.runAndReadAll(sql);
  const row = (reader.getRowsJS()[0] ?? []) as (bigint | string | null)[];
  return checks.flatMap(({ column, loss }, index) => {
    const count = Number(row[2 * index] ?? 0);
    if (count === 0) return [];
    const shown = row[2 * index + 1];
    const example =
      shown === null || shown === undefined ? 'it' : JSON.stringify(String(shown).slice(0, 100));
    return [
      `${plan.file.name}: ${column}: in ${count} ${count === 1 ? 'record' : 'records'}, ${example} ${loss}`,
    ];
  });
}
