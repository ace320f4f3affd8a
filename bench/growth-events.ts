import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { dayFolder } from '../lake-check/layout.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { quoteText } from '../lib/report/quote-sql.ts';
import { type Table, tables } from '../lib/report/tables.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import { below, chance, DRAW_MACROS, draw, skewedBelow } from '../local/events/draws.ts';
import { dayCopy, daySelect } from '../tools/lake/day-file.ts';

/** The parameters of the events. They are printed beside the measurements. */
export interface GrowthParameters {
  /** The number of placements. Half of the events belong to few placements: to about the square root of this number. */
  readonly placements: number;
  readonly devices: number;
  /** Placements in each container. Each company has one container. */
  readonly placementsPerContainer: number;
}

/** Every hour has events of every combination of dimensions. */
export const DENSE: GrowthParameters = { placements: 20, devices: 3, placementsPerContainer: 4 };

export const WINDOW = { firstDay: '2026-01-01', days: 32 };
const FIRST_DAY = Date.parse(WINDOW.firstDay);
const DAY_MS = 86_400_000;

/** SQL for the raw events with the numbers from `first` to `end - 1`, all of one day. Each adds 1 to one count. */
function eventsSql(first: number, end: number, day: number, parameters: GrowthParameters): string {
  const { placements, devices, placementsPerContainer } = parameters;
  return `SELECT epoch_ms(${day} + ${below(DAY_MS, draw('time'))})::TIMESTAMP_MS AS event_time,
      CASE WHEN is_container THEN NULL ELSE 7000000 + placement * 13 END AS placement_id,
      410000 + placement // ${placementsPerContainer} AS container_id,
      52000 + placement // ${placementsPerContainer} AS publisher_account_id,
      1000 + placement // ${placementsPerContainer} AS publisher_company_id,
      'Device ' || ${skewedBelow(devices, draw('device'))} AS device_or_proxy,
      (NOT is_container AND kind < 800)::BIGINT AS served_ads,
      (NOT is_container AND kind BETWEEN 800 AND 959)::BIGINT AS placement_opens,
      is_container::BIGINT AS container_opens,
      (NOT is_container AND kind >= 960)::BIGINT AS clicks,
      CAST(CASE WHEN is_container OR kind >= 400 THEN 0 ELSE ${below(5_000, draw('amount'))} END AS DECIMAL(18,0)) * 0.000001::DECIMAL(18,6) AS revenue
    FROM (SELECT n, ${skewedBelow(placements, draw('placement'))} AS placement, ${below(1000, draw('kind'))} AS kind,
                 ${chance(150, 'container')} AS is_container
          FROM (SELECT range AS n FROM range(${first}, ${end})))`;
}

export interface GrowthLakes {
  readonly raw: string;
  readonly hourly: string;
  /** The number of records in the hourly lake. */
  readonly hours: number;
}

/**
 * Makes a lake of `events` raw events in 32 days, and the hourly lake that `npm run lake -- convert --hourly` makes of
 * these events.
 */
export async function makeGrowthLakes(
  directory: string,
  events: number,
  parameters: GrowthParameters,
): Promise<GrowthLakes> {
  const raw = join(directory, `raw-${events}`);
  const hourly = join(directory, `hourly-${events}`);
  const table = tables.find(({ name }) => name === publisherReport.table) as Table;
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: join(directory, 'spilled') });
  const connection = await instance.connect();
  const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS();
  try {
    await connection.run(DRAW_MACROS);
    for (let nth = 0; nth < WINDOW.days; nth++) {
      const start = FIRST_DAY + nth * DAY_MS;
      const share = (part: number) => Math.floor((events * part) / WINDOW.days);
      const rawFile = join(raw, dayFolder(table.name, utcDay(start)), 'events.parquet');
      const hourFolder = join(hourly, dayFolder(table.name, utcDay(start)));
      await mkdir(join(rawFile, '..'), { recursive: true });
      await mkdir(join(hourFolder, '..'), { recursive: true });
      await connection.run(
        `COPY (SELECT * REPLACE (CAST(revenue AS DECIMAL(18,6)) AS revenue) FROM (${eventsSql(share(nth), share(nth + 1), start, parameters)}))
         TO ${quoteText(rawFile)} (FORMAT parquet, COMPRESSION zstd)`,
      );
      const select = daySelect(table, publisherReport, `read_parquet(${quoteText(rawFile)})`, true);
      const [[hours] = []] = await rowsOf(`SELECT count(*) FROM (${select.split('\nORDER BY')[0]})`);
      await connection.run(dayCopy(select, Number(hours), hourFolder));
    }
    const [[hours] = []] = await rowsOf(`SELECT count(*) FROM read_parquet('${hourly}/*/*/*.parquet')`);
    return { raw, hourly, hours: Number(hours) };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
