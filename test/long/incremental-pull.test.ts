import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { folderTarget } from '../../tools/lake/store/folder-target.ts';
import { pythonWith } from '../clients/python.ts';
import { type EventRow, expectedReport } from '../e2e/expected-report.ts';
import { randomNumbers } from '../e2e/known-events.ts';
import { type Service, startService } from '../e2e/service.ts';
import { type EventRow as WrittenRow, writeEvents } from '../write-events.ts';

const DAYS = 90;
const RESTATEMENTS = 200;
const FULL_PULLS = 4;
const KILLS = 20;
const TABLE = 'publisher_events';
const FIELDS = ['Day', 'PlacementId', 'ServedAds', 'Opens', 'Clicks', 'Revenue'];
const DAY_MS = 86_400_000;
const START = Date.UTC(2025, 10, 1);

const random = randomNumbers(90);
const dayOf = (nth: number): string => new Date(START + nth * DAY_MS).toISOString().slice(0, 10);
const names = Array.from({ length: DAYS }, (_, nth) => dayOf(nth));
const END = dayOf(DAYS);

const python = await pythonWith('requests', ['requests==2.34.2']);

let home: string;
let lake: string;
let service: Service;
/** For each day with events, the text that a complete pull leaves in the file of that day. */
const held = new Map<string, string>();

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'performance-reports-sink-'));
  lake = join(home, 'lake');
  for (const day of names) await restate(day);
  service = await startService(
    { publisher_events: [], advertiser_events: [] },
    { openEngine: duckDbOn(lake), eventsDirectory: lake, functionEnv: { POWERTOOLS_LOG_LEVEL: 'SILENT' } },
  );
  tokenProxy = await startTokenProxy();
});
afterAll(async () => {
  tokenProxy.close().closeAllConnections();
  await service.close();
  await rm(home, { recursive: true });
});

/** Makes 40 to 47 random records of a day. */
const eventsOf = (day: string): EventRow[] =>
  Array.from({ length: 40 + Math.floor(random() * 8) }, (_, nth) => ({
    event_time: `${day}T${String(Math.floor(random() * 24)).padStart(2, '0')}:00:00.000Z`,
    placement_id: 100n + BigInt(nth),
    publisher_company_id: 1000n,
    served_ads: BigInt(1 + Math.floor(random() * 9)),
    clicks: BigInt(Math.floor(random() * 9)),
    revenue: `${Math.floor(random() * 9)}.${100_000 + Math.floor(random() * 899_999)}`,
  }));

/** Writes a day again with other records, or deletes it. */
async function restate(day: string, isTakenBack = false): Promise<void> {
  const made = await mkdtemp(join(home, 'made-'));
  if (isTakenBack) {
    held.delete(day);
    await rm(join(lake, TABLE, `day=${day}`), { recursive: true });
  } else {
    const events = eventsOf(day);
    held.set(day, reportOf(day, events));
    await writeEvents(made, TABLE, events as unknown as WrittenRow[]);
    const folder = join(made, TABLE, `day=${day}`);
    const files = (await readdir(folder)).map((name) => ({ path: join(folder, name), name }));
    await mkdir(lake, { recursive: true });
    await folderTarget(lake).replaceDay({ table: TABLE, day, files, marker: '' });
  }
  await rm(made, { recursive: true });
}

const reportOf = (day: string, events: readonly EventRow[]): string =>
  expectedReport('publisherperformance', events, {
    fields: FIELDS,
    start: `${day}T00:00:00Z`,
    end: `${new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`,
  });

/** The number of tokens that were requested. */
let _tokens = 0;
let tokenProxy: Server;

/** Forwards requests to the identity provider, and counts them. */
async function startTokenProxy(): Promise<Server> {
  const server = createServer(async (request, response) => {
    _tokens++;
    const { status, body } = await fetch(service.stack.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': String(request.headers['content-type']) },
      body: await text(request),
    }).then(async (answer) => ({ status: answer.status, body: await answer.text() }));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const start = (folder: string, ...options: string[]) => {
  const { apiUrl, clientId, clientSecret, scope } = service.stack;
  return spawn(
    String(python),
    ['docs/programs/incremental_pull.py', folder, dayOf(0), END, '--fields', FIELDS.join(','), ...options],
    {
      env: {
        PATH: process.env['PATH'],
        API_URL: apiUrl,
        TOKEN_URL: `http://127.0.0.1:${(tokenProxy.address() as AddressInfo).port}`,
        CLIENT_ID: clientId,
        CLIENT_SECRET: clientSecret,
        SCOPE: scope,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
};

async function sync(folder: string, ...options: string[]) {
  const child = start(folder, ...options);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const [code] = await once(child, 'close');
  const [, pulled, bytes] = /(\d+) of them pulled, (\d+) bytes/.exec(output) ?? [];
  return { code, output, pulled: Number(pulled), bytes: Number(bytes) };
}

/** The sink's files, by name. */
async function contentOf(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.csv')).sort();
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

const expectedContent = (): Record<string, string> =>
  Object.fromEntries([...held].sort().map(([day, content]) => [`${day}.csv`, content]));

const sizeOf = (content: Readonly<Record<string, string>>): number =>
  Object.values(content).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

describe.skipIf(!python)('docs/programs/incremental_pull.py', () => {
  it(`leaves the same files as a full pull after each of ${RESTATEMENTS} random restatements, but pulls at most 1.5/90 of the bytes`, async () => {
    const sink = join(home, 'sink');
    expect(await sync(sink)).toMatchObject({ code: 0, pulled: DAYS });
    let worst = 0;
    for (let nth = 1; nth <= RESTATEMENTS; nth++) {
      const day = names[Math.floor(random() * DAYS)] as string;
      await restate(day, random() < 0.03 && held.has(day));
      const { code, output, bytes } = await sync(sink);
      expect({ code, output }).toMatchObject({ code: 0 });
      const content = await contentOf(sink);
      expect(content).toEqual(expectedContent());
      worst = Math.max(worst, bytes / sizeOf(content));
      if (nth % (RESTATEMENTS / FULL_PULLS) === 0) {
        const full = join(home, `full-${nth}`);
        expect(await sync(full)).toMatchObject({ code: 0 });
        expect(await contentOf(full)).toEqual(content);
      }
    }
    process.stdout.write(
      `${RESTATEMENTS} restatements: a sync pulls at most ${(worst * 90).toFixed(2)}/90 of a full pull's bytes\n`,
    );
    expect(worst).toBeLessThanOrEqual(1.5 / 90);
    expect(await sync(sink)).toMatchObject({ code: 0, pulled: 0, bytes: 0 });
  }, 3_600_000);

  it(`leaves no gap and no duplicate after ${KILLS} kills`, async () => {
    const sink = join(home, 'killed');
    const from = performance.now();
    await sync(join(home, 'timed'));
    const wholeMs = performance.now() - from;
    let interrupted = 0;
    for (let nth = 0; nth < KILLS; nth++) {
      for (let changed = 0; changed < 12; changed++)
        await restate(names[Math.floor(random() * DAYS)] as string);
      const known: Record<string, string> = await contentOf(sink).catch(() => ({}));
      const child = start(sink);
      await pause(random() * wholeMs * (nth < 5 ? 0.9 : 0.4));
      if (child.exitCode === null) interrupted++;
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      const expected = expectedContent();
      // Every file is complete. It has either its earlier content or the new content.
      for (const [name, content] of Object.entries(await contentOf(sink)))
        expect([known[name], expected[name]]).toContain(content);
    }
    process.stdout.write(`${interrupted} of ${KILLS} kills met a running pull\n`);
    expect(interrupted).toBeGreaterThan(KILLS / 2);
    expect(await sync(sink)).toMatchObject({ code: 0 });
    expect(await contentOf(sink)).toEqual(expectedContent());
  });

  it('with --final, fails and names the days that are not complete, and pulls the others', async () => {
    const sink = join(home, 'final');
    await restate(names[3] as string);
    await rm(join(lake, TABLE, `day=${names[3]}`, '_SUCCESS'));
    await restate(names[5] as string, held.has(names[5] as string));
    const { code, output } = await sync(sink, '--final');
    expect(code).toBe(1);
    expect(output).toMatch(RegExp(`Not complete: .*${names[3]} \\(open\\).*${names[5]} \\(no events\\)`));
    expect(await contentOf(sink)).toEqual(expectedContent());
    expect(await sync(sink)).toMatchObject({ code: 0, pulled: 0 });
    // Other users of the machine must be able to read the files.
    expect((await stat(join(sink, `${names[0]}.csv`))).mode & 0o044).toBe(0o044);
  });
});
