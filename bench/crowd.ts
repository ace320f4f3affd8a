import { setTimeout as delay } from 'node:timers/promises';
import { startBaselineService } from './baselines.ts';
import { drawsOf } from './load-mix.ts';
import { startMeasured, type Used } from './measured-process.ts';
import { pathOf, type Question, repeated, sqlOf } from './questions.ts';

/** Draws `count` questions, each for a different report. */
export function distinct(count: number, seed: number): Question[] {
  const { question } = drawsOf(seed);
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
