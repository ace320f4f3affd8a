import { setTimeout as delay } from 'node:timers/promises';
import { advertiserReport, publisherReport } from '../lib/report/catalogue.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import { startBaselineService } from './baselines.ts';
import { startMeasured, type Used } from './measured-process.ts';
import { pathOf, type Question, repeated, sqlOf } from './questions.ts';

const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const DAYS = 59;
const LENGTHS = [1, 7, 14, 31, 32];
const SHAPES: readonly Omit<Question, 'firstDay' | 'days'>[] = [
  { report: publisherReport, fields: ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['DateTime', 'DeviceOrProxy', 'ServedAds'] },
  { report: publisherReport, fields: ['PlacementId', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['Day', 'PublisherCompanyId', 'ServedAds', 'Revenue'] },
  { report: advertiserReport, fields: ['Day', 'CampaignId', 'Impressions', 'Clicks', 'Spend'] },
  { report: advertiserReport, fields: ['CampaignLineId', 'CreativeId', 'Conversions'] },
];

/** Draws questions: both reports, one to 32 days, some filtered. The same seed gives the same draws. */
function drawsOf(seed: number): () => Question {
  let state = seed;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 0x8000_0000) * below);
  };
  const oneOf = <T>(values: readonly T[]): T => values[draw(values.length)] as T;
  return () => {
    const days = oneOf(LENGTHS);
    const firstDay = utcDay(FIRST_DAY + draw(DAYS - days) * DAY_MS);
    const isFiltered = draw(3) === 0;
    return {
      ...oneOf(SHAPES),
      firstDay,
      days,
      ...(isFiltered && { filters: { PublisherCompanyId: String(1000 + draw(20)) } }),
    };
  };
}

/** Draws `count` questions, each for a different report. */
export function distinct(count: number, seed: number): Question[] {
  const question = drawsOf(seed);
  const byPath = new Map<string, Question>();
  for (let drawn = 0; byPath.size < count && drawn < 100 * count; drawn++) {
    const next = question();
    byPath.set(pathOf(next), next);
  }
  return [...byPath.values()];
}

/** Calls `act` with each item; at most `atOnce` calls run at the same moment. */
export async function pool<T>(
  items: Iterable<T>,
  atOnce: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const work = async () => {
    for (let { done, value } = remaining.next(); !done; { done, value } = remaining.next()) await act(value);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** A service in its own process. Callers follow redirects. After an error, they pause (`Retry-After`) and ask again. */
export interface Served extends AsyncDisposable {
  /** Resolves to the report's bytes. */
  pull(question: Question): Promise<number>;
  /** Pulls the report with its rows repeated, so that it has about `bytes` bytes. Resolves to the bytes received. */
  pullLarge(question: Question, bytes: number): Promise<number>;
  used(): Promise<Used>;
  /** How often each status was answered. An error without `Retry-After` counts as `<status> without`. */
  readonly statuses: ReadonlyMap<string, number>;
}

function callers(headers: Readonly<Record<string, string>>) {
  const statuses = new Map<string, number>();
  const pull = async (url: string): Promise<number> => {
    for (;;) {
      const response = await fetch(url, { headers });
      let bytes = 0;
      for await (const chunk of response.body ?? []) bytes += chunk.length;
      const retryAfter = response.headers.get('retry-after');
      const status = response.ok || retryAfter ? `${response.status}` : `${response.status} without`;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (response.ok) return bytes;
      await delay(1_000 * Number(retryAfter ?? 5));
    }
  };
  return { statuses, pull };
}

export async function serveOurs(eventsDirectory: string): Promise<Served> {
  const child = await startMeasured('measured-service', [eventsDirectory]);
  const { apiUrl = '', authorization = '', faultsUrl = '' } = child.ready;
  const { statuses, pull } = callers({ authorization, accept: 'text/csv', 'accept-encoding': 'identity' });
  return {
    statuses,
    used: child.used,
    pull: (question) => pull(apiUrl + pathOf(question)),
    async pullLarge(question, resultBytes) {
      const fault = { on: 'query', resultBytes, times: 1 };
      await fetch(faultsUrl, { method: 'PUT', body: JSON.stringify([fault]) });
      return pull(apiUrl + pathOf(question));
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** @param python a Python that has the packages of `bench/baselines/` */
export async function serveTheirs(python: string, eventsDirectory: string): Promise<Served> {
  const child = await startBaselineService(python, eventsDirectory);
  const { statuses, pull } = callers({});
  const pullSql = (sql: string) => pull(`${child.url}/report?${new URLSearchParams({ sql })}`);
  return {
    statuses,
    used: child.used,
    pull: (question) => pullSql(sqlOf(question)),
    async pullLarge(question, bytes) {
      const sql = sqlOf(question);
      return pullSql(repeated(sql, bytes / (await pullSql(sql))));
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
