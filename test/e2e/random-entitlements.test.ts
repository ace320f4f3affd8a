import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../lib/config.ts';
import { retypeCsv } from '../../lib/csv/retype-csv.ts';
import { makeOrder } from '../../lib/delivery/order.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { parseRequest } from '../../lib/report/parse-request.ts';
import { entitle } from '../../lib/token/entitle.ts';
import { openDuckDb } from '../../local/athena/duckdb-engine.ts';
import type { OpenedEngine } from '../../local/athena/query-engine.ts';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import { type EventRow, expectedReport, type Question } from './expected-report.ts';
import { knownEvents, randomNumbers } from './known-events.ts';
import { queryOf, type Service, startService } from './service.ts';

const events = knownEvents(5, 800);
const rowsOf = {
  publisherperformance: events.publisher_events,
  advertiserperformance: events.advertiser_events,
};
type ReportName = keyof typeof rowsOf;
const GOVERNING = {
  publisherperformance: 'publisher_company_id',
  advertiserperformance: 'advertiser_company_id',
};

interface Case {
  readonly report: ReportName;
  readonly companies: readonly bigint[];
  readonly claims: Readonly<Record<string, unknown>>;
  readonly question: Question;
}

const PUBLISHER_SIDE = [
  'PlacementId',
  'ContainerId',
  'PublisherAccountId',
  'PublisherCompanyId',
  'DeviceOrProxy',
];
const FIELDS = {
  publisherperformance: ['DateTime', 'Day', ...PUBLISHER_SIDE, 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  advertiserperformance: [
    ...['DateTime', 'Day', 'AdvertiserCompanyId', 'CampaignId', 'DemandOrigin', ...PUBLISHER_SIDE],
    ...['Impressions', 'Clicks', 'Conversions', 'ConversionRevenue', 'Spend'],
  ],
};
const COMPANIES = {
  publisherperformance: [1000n, 1001n, 1002n, 9223372036854775807n, 77n],
  advertiserperformance: [1n, 2n, 3n, 4n, 77n],
};
const FILTERS: Readonly<Record<string, string[]>> = {
  PlacementId: ['10', '11', '12', '13'],
  ContainerId: ['100', '101', '102', '103'],
  PublisherCompanyId: ['1000', '1001', '1002', '9223372036854775807'],
  DeviceOrProxy: ['phone', "'", '🦊'],
};
const CLAIM_FORMS = [
  (ids: bigint[]) => ids.map(String),
  (ids: bigint[]) => ids.join(' '),
  (ids: bigint[]) => (ids.every((id) => id < 2n ** 53n) ? ids.map(Number) : ids.map(String)),
];

/** Callers with random companies in random forms, who ask random questions. */
function randomCases(seed: number, count: number): Case[] {
  const random = randomNumbers(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const some = <T>(values: readonly T[], most: number): T[] =>
    [...values].sort(() => random() - 0.5).slice(0, 1 + Math.floor(random() * most));
  return Array.from({ length: count }, () => {
    const report: ReportName = random() < 0.7 ? 'publisherperformance' : 'advertiserperformance';
    const companies = some(COMPANIES[report], 3);
    const filters =
      random() < 0.6 ? some(Object.entries(FILTERS), 2).map(([field, all]) => [field, some(all, 3)]) : [];
    if (report === 'advertiserperformance' && random() < 0.3)
      filters.push(['AdvertiserCompanyId', some(['1', '2', '3', '4'], 3)]);
    return {
      report,
      companies,
      claims: {
        [report === 'publisherperformance' ? 'publisher_companies' : 'advertiser_companies']:
          pick(CLAIM_FORMS)(companies),
      },
      question: {
        fields: some(FIELDS[report], 4),
        start: pick(['2026-01-01T00:00:00Z', '2026-01-01T10:30:00Z']),
        end: pick(['2026-01-02T11:00:00Z', '2026-01-03T00:00:00Z']),
        filters: Object.fromEntries(filters),
      },
    };
  });
}

const expected = ({ report, companies, question }: Case): string => {
  const visible = rowsOf[report].filter((row: EventRow) =>
    companies.includes(row[GOVERNING[report]] as bigint),
  );
  return expectedReport(report, visible, question);
};

/** The cases that are answered wrongly, some at a time. */
async function wronglyAnswered(cases: Case[], answer: (entry: Case) => Promise<string>, atOnce: number) {
  const wrong: unknown[] = [];
  const queue = cases.values();
  const work = async () => {
    for (const entry of queue) {
      const csv = await answer(entry);
      if (csv !== expected(entry)) wrong.push({ ...entry, csv });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return wrong;
}

let service: Service;
let home: string;
let engine: OpenedEngine;
beforeAll(async () => {
  service = await startService(events);
  home = await mkdtemp(join(tmpdir(), 'random-entitlements-'));
  const eventsDirectory = join(home, 'events');
  for (const [table, rows] of Object.entries(events))
    await writeEvents(eventsDirectory, table, rows as unknown as WrittenRow[]);
  engine = await openDuckDb({
    eventsDirectory,
    database: 'reports',
    scratchDirectory: join(home, 'scratch'),
  });
});
afterAll(async () => {
  engine.close();
  await rm(home, { recursive: true, force: true });
  await service.close();
});

describe('no row of a foreign company counts', () => {
  it('in 2,000 random questions by random claims, from the claims to the CSV', async () => {
    const config = readConfig({
      TOKEN_ISSUER: 'https://issuer.example',
      TOKEN_JWKS_URI: 'https://issuer.example/keys',
      API_SCOPE: 'api://reports',
      ENTITLEMENTS: 'claims',
      PUBLISHER_COMPANIES_CLAIM: 'publisher_companies',
      ADVERTISER_COMPANIES_CLAIM: 'advertiser_companies',
      ATHENA_DATABASE: 'reports',
      ATHENA_WORKGROUP: 'reports',
      RESULTS_BUCKET: 'results',
    });
    let queries = 0;
    const answer = async ({ report: name, claims, question }: Case) => {
      const report = reports.find((entry) => entry.name === name);
      if (!report) throw new Error(`there is no report ${name}`);
      const query = new URLSearchParams(queryOf(question));
      const parameters = Object.fromEntries([...query.keys()].map((key) => [key, query.getAll(key)]));
      const request = parseRequest(report, { parameters, accept: undefined });
      const { query: compiled, columns } = makeOrder(request, entitle(claims, report, config), {
        version: '',
      });
      const signal = new AbortController().signal;
      const { csvPath } = await engine.run({ id: `case-${queries++}`, ...compiled, signal });
      const csv = await buffer(retypeCsv(columns, createReadStream(csvPath)));
      await rm(csvPath);
      return csv.toString();
    };
    expect(await wronglyAnswered(randomCases(99, 2_000), answer, 2)).toEqual([]);
  }, 120_000);

  it('in 200 random questions by random tokens, over HTTP', async () => {
    const answer = async ({ report, claims, question }: Case) => {
      const token = await service.stack.identityProvider.signToken(
        { scope: service.stack.scope, ...claims },
        { algorithm: 'EdDSA' },
      );
      const headers = { Authorization: `Bearer ${token}` };
      return (await service.request(report, queryOf(question), { redirect: 'follow', headers })).text();
    };
    expect(await wronglyAnswered(randomCases(7, 200), answer, 8)).toEqual([]);
  }, 120_000);
});
