import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { type IncomingMessage, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { serve } from '../../local/serve.ts';
import { folderTarget } from '../../tools/lake/store/lake-target.ts';
import { randomNumbers } from '../e2e/known-events.ts';
import { startService } from '../e2e/service.ts';
import { type EventRow, writeEvents } from '../write-events.ts';

const TABLE = 'publisher_events';
const DAY_MS = 86_400_000;
const START = Date.UTC(2025, 10, 1);

export const DAYS = 90;
export const FIELDS = ['Day', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'];

const dayOf = (nth: number): string => new Date(START + nth * DAY_MS).toISOString().slice(0, 10);

/** Starts the one-machine service with 90 days of events that a test restates. It records its requests. */
export async function startRestatedService(seed: number) {
  const random = randomNumbers(seed);
  const home = await mkdtemp(join(tmpdir(), 'performance-reports-connector-'));
  const lake = join(home, 'lake');
  const folderOf = (day: string) => join(lake, TABLE, `day=${day}`);
  const days: readonly string[] = Array.from({ length: DAYS }, (_, nth) => dayOf(nth));
  const there = new Map<string, readonly EventRow[]>();

  async function restate(day: string, given: { isFinal?: boolean; device?: string } = {}) {
    const { isFinal = true, device } = given;
    const made = await mkdtemp(join(home, 'made-'));
    const events = eventsOf(day, random, device);
    await writeEvents(made, TABLE, events);
    const folder = join(made, TABLE, `day=${day}`);
    const files = (await readdir(folder)).map((name) => ({ path: join(folder, name), name }));
    await mkdir(lake, { recursive: true });
    await folderTarget(lake).replaceDay({ table: TABLE, day, files, ...(isFinal && { marker: '' }) });
    await rm(made, { recursive: true });
    there.set(day, events);
  }
  async function takeBack(day: string) {
    await rm(folderOf(day), { recursive: true });
    there.delete(day);
  }
  for (const day of days) await restate(day);

  let duringQuery: (() => Promise<void>) | undefined;
  const openEngine: OpenEngine = async (options) => {
    const engine = await duckDbOn(lake)(options);
    return {
      maxRunning: engine.maxRunning,
      async run(query) {
        const act = duringQuery;
        duringQuery = undefined;
        const outcome = await engine.run(query);
        await act?.();
        return outcome;
      },
      close: () => engine.close(),
    };
  };
  const service = await startService(
    { publisher_events: [], advertiser_events: [] },
    { openEngine, eventsDirectory: lake, functionEnv: { POWERTOOLS_LOG_LEVEL: 'SILENT' } },
  );

  const asked: string[] = [];
  let before: { act: () => Promise<void>; left: number } | undefined;
  let refusal = { times: 0, status: 0 };
  const api = await startCounter(service.stack.apiUrl, async (path) => {
    asked.push(path);
    if (path !== '/reporting/publisherperformance') return undefined;
    if (before && before.left-- === 0) {
      const { act } = before;
      before = undefined;
      await act();
    }
    if (refusal.times === 0) return undefined;
    refusal.times--;
    return refusal.status;
  });
  const tokens = await startCounter(service.stack.tokenUrl, async () => {
    asked.push('token');
    return undefined;
  });

  const { clientId, clientSecret, clients, scope } = service.stack;
  return {
    days,
    clients,
    end: dayOf(DAYS),
    environment: {
      ...{ API_URL: api.url, TOKEN_URL: tokens.url, SCOPE: scope },
      ...{ CLIENT_ID: clientId, CLIENT_SECRET: clientSecret },
    },
    random,
    /** The paths of the requests since the last call. A request for a token is `token`. */
    takeRequests: () => asked.splice(0),
    restate,
    takeBack,
    /** A day's events; undefined if it has none. */
    eventsOn: (day: string) => there.get(day),
    /**
     * Calls `act` once, before the service answers a request for a report, but lets `left` such requests pass first.
     * When `act` is called, the connector already has its answer from `/days`.
     */
    beforeNextReport(act: () => Promise<void>, left = 0) {
      before = { act, left };
    },
    /** Calls `act` once, before the service learns that the next report's query has ended. */
    duringNextQuery(act: () => Promise<void>) {
      duringQuery = act;
    },
    /** Answers the next `times` requests for reports with this status. */
    refuseReports(times: number, status: number) {
      refusal = { times, status };
    },
    async close() {
      await api.close();
      await tokens.close();
      await service.close();
      await rm(home, { recursive: true, maxRetries: 5 });
    },
  };
}

const DEVICES = ['Mobile', 'Tablet', 'NULL', '', 'two\nlines, "quoted"', null];

/** Random records of a day, 40 to 47 of them. */
const eventsOf = (day: string, random: () => number, device?: string): EventRow[] =>
  Array.from({ length: 40 + Math.floor(random() * 8) }, (_, nth) => ({
    event_time: `${day}T${String(Math.floor(random() * 24)).padStart(2, '0')}:00:00.000Z`,
    // An id above 2^53 loses digits as a float.
    placement_id: 9_007_199_254_740_993n + BigInt(nth),
    publisher_company_id: 1000n,
    device_or_proxy: device ?? DEVICES[nth % DEVICES.length] ?? null,
    served_ads: BigInt(1 + Math.floor(random() * 9)),
    clicks: BigInt(Math.floor(random() * 9)),
    revenue: `${Math.floor(random() * 9)}.${100_000 + Math.floor(random() * 899_999)}`,
  }));

/** Forwards requests to a server. `tell` gets each path first, and can give a status to answer instead. */
const startCounter = (upstream: string, tell: (path: string) => Promise<number | undefined>) =>
  serve(async (request, response) => {
    const { method = 'GET', url = '/', rawHeaders } = request;
    const refused = await tell(url.split('?')[0] as string);
    if (refused) {
      response.writeHead(refused, { 'content-type': 'application/problem+json', 'retry-after': '0' });
      return response.end(JSON.stringify({ status: refused, title: 'Not now', instance: 'urn:uuid:1' }));
    }
    const outgoing = send(url === '/' ? upstream : upstream + url, { method, headers: rawHeaders });
    outgoing.end(await buffer(request));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response.writeHead(answer.statusCode as number, answer.rawHeaders).end(await buffer(answer));
  });
