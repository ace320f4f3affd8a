/** The lakes that benchmarks make. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { dayFolder } from '../lake-check/layout.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { quoteText } from '../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, TIME_COLUMN, tables } from '../lib/report/tables.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import { below, chance, DRAW_MACROS, draw, skewedBelow } from '../local/events/draws.ts';
import { makeSampleEvents } from '../local/events/sample-events.ts';
import { lakeCommand } from '../tools/lake.ts';
import { recordsAtMost } from './measuring.ts';

/** The parameters of raw events. */
export interface EventsShape {
  /** The number of placements. Half of the events belong to few placements: to about the square root of this number. */
  readonly placements: number;
  readonly devices: number;
  /** Placements in each container. Each company has one container. */
  readonly placementsPerContainer: number;
}

/** Every hour has events of every combination of dimensions. */
export const DENSE: EventsShape = { placements: 20, devices: 3, placementsPerContainer: 4 };

/** The days of raw events. */
export const WINDOW = { firstDay: '2026-01-01', days: 32 };
const FIRST_DAY = Date.parse(WINDOW.firstDay);
const DAY_MS = 86_400_000;

/** SQL for the raw events with the numbers from `first` to `end - 1`, all of one day. Each adds 1 to one count. */
function eventsSql(first: number, end: number, day: number, shape: EventsShape): string {
  const { placements, devices, placementsPerContainer } = shape;
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

/** Runs statements on a DuckDB of its own. */
async function withDuckDb(
  statements: (run: (sql: string) => Promise<unknown>) => Promise<void>,
  spill: string,
) {
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: spill });
  const connection = await instance.connect();
  await statements((sql) => connection.run(sql));
  connection.closeSync();
  instance.closeSync();
}

/** Makes a lake of `events` raw events of the publisher report, one file a day. Resolves to its directory. */
export async function makeRawLake(directory: string, events: number, shape: EventsShape): Promise<string> {
  const raw = join(directory, `raw-${events}`);
  await withDuckDb(
    async (run) => {
      await run(DRAW_MACROS);
      for (let nth = 0; nth < WINDOW.days; nth++) {
        const start = FIRST_DAY + nth * DAY_MS;
        const share = (part: number) => Math.floor((events * part) / WINDOW.days);
        const folder = join(raw, dayFolder(publisherReport.table, utcDay(start)));
        await mkdir(folder, { recursive: true });
        const sql = eventsSql(share(nth), share(nth + 1), start, shape);
        await run(
          `COPY (SELECT * REPLACE (CAST(revenue AS DECIMAL(18,6)) AS revenue) FROM (${sql}))
           TO ${quoteText(join(folder, 'events.parquet'))} (FORMAT parquet, COMPRESSION zstd)`,
        );
      }
    },
    join(directory, 'spilled'),
  );
  await lake('init', raw);
  return raw;
}

/** Runs a command of `npm run lake`. Throws an Error with what it says if it fails. */
async function lake(...args: readonly string[]): Promise<void> {
  let said = '';
  const say = (text: string) => {
    said += text;
  };
  if ((await lakeCommand(args, { out: say, err: say })) !== 0) throw new Error(said);
}

/** Makes a lake of these days by `npm run lake -- convert`. Resolves to its directory. */
export async function convertedLake(days: readonly string[], to: string, hourly: boolean): Promise<string> {
  await lake('convert', ...days, '--to', to, ...(hourly ? ['--hourly'] : []));
  await lake('init', to);
  return to;
}

const SAMPLE_RECORDS = recordsAtMost(1_000_000);
const FILES_A_DAY = 8;

/** Makes a lake of both tables with eight files a day. Resolves to its directory. */
export async function makeLakeOfManyFiles(directory: string): Promise<string> {
  const events = await makeSampleEvents({ directory: join(directory, 'events'), records: SAMPLE_RECORDS });
  const many = join(directory, 'many');
  await withDuckDb(
    async (run) => {
      for (const { name } of tables) {
        await mkdir(join(many, name), { recursive: true });
        for (let file = 0; file < FILES_A_DAY; file++)
          await run(
            `COPY (SELECT * FROM read_parquet('${events}/${name}/*/*.parquet', hive_partitioning = true, hive_types = {day: VARCHAR})
                   WHERE hash(${TIME_COLUMN}) % ${FILES_A_DAY} = ${file})
             TO '${join(many, name)}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (${PARTITION_COLUMN}),
               FILENAME_PATTERN 'part-${file}-{i}', OVERWRITE_OR_IGNORE)`,
          );
      }
    },
    join(directory, 'spilled'),
  );
  return many;
}
