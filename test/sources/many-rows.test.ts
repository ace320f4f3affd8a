import { expect, it } from 'vitest';
import { money } from '../e2e/expected-report.ts';
import { writingFolder } from '../tools/make-parquet.ts';
import { expectLake } from './bring-in.ts';
import type { Group } from './lake-groups.ts';

/** The number of records. `SOURCE_ROWS` can set a smaller number for a quick try of the test. */
const ROWS = Number(process.env['SOURCE_ROWS'] || 20_000_000);

const { folder: home, writer } = await writingFolder();

const MINUTE = 60_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2026, 0, 29);
const DAYS_MS = 72 * HOUR_MS;
const COMPANIES = 97;

/** The time from one record to the next, about two hours. After three days, the times begin again at the first day. */
const STEP_MS = 7_919_773;

/** Every amount is below this number of millionths, so every sum of millionths stays below 2^53. */
const MOST_MILLIONTHS = 1_000_003;

/** The sums of the records that `select` makes. They are computed without DuckDB, from each record's number `i`. */
function expectedGroups(): Group[] {
  const none = { rows: 0, opens: 0, clicks: 0, millionths: 0 };
  const sums = Array.from({ length: 72 * COMPANIES }, () => ({ ...none }));
  for (let i = 0; i < ROWS; i++) {
    const hour = Math.floor(((i * STEP_MS) % DAYS_MS) / HOUR_MS);
    const group = sums[hour * COMPANIES + (i % COMPANIES)] as (typeof sums)[number];
    group.rows++;
    group.opens += i % 5;
    group.clicks += i % 3;
    group.millionths += i % MOST_MILLIONTHS;
  }
  return sums.flatMap(({ rows, opens, clicks, millionths }, index) => {
    if (rows === 0) return [];
    const hour = new Date(FIRST_MS + Math.floor(index / COMPANIES) * HOUR_MS).toISOString();
    const company = String(1 + (index % COMPANIES));
    const counts = [rows, rows, opens, 0, clicks].map(String);
    const keys = [hour.slice(0, 13).replace('T', ' '), company, company, company, 'phone'];
    return [[...keys, ...counts, money(BigInt(millionths))]];
  });
}

const select = `SELECT make_timestamp_ms(${FIRST_MS} + i * ${STEP_MS} % ${DAYS_MS}) AS event_time,
    1 + i % ${COMPANIES} AS placement_id, i % 1000 AS container_id, placement_id AS publisher_account_id,
    placement_id AS publisher_company_id, 'phone' AS device_or_proxy, 1 AS served_ads, i % 5 AS placement_opens,
    0 AS container_opens, i % 3 AS clicks, (i % ${MOST_MILLIONTHS})::DOUBLE / 1e6 AS revenue
  FROM range(${ROWS}) AS numbers(i)`;

it(`lake -- convert keeps the sums of ${ROWS.toLocaleString('en-US')} rows of one file`, {
  timeout: 60 * MINUTE,
}, async () => {
  expect(ROWS * STEP_MS).toBeLessThan(Number.MAX_SAFE_INTEGER);
  await writer.file('rows.parquet', select);
  await expectLake(home, { name: 'rows.parquet' }, expectedGroups());
});
