import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partnerKey, type Register, readPartner } from '../../lib/access/partner-record.ts';
import { whoseRows } from '../../lib/access/whose-rows.ts';
import { readConfig } from '../../lib/config.ts';
import { retypeCsv } from '../../lib/csv/retype-csv.ts';
import { makeJob } from '../../lib/delivery/job.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { parseRequest } from '../../lib/report/parse-request.ts';
import { openDuckDb } from '../../local/athena/duckdb-engine.ts';
import type { OpenedEngine } from '../../local/athena/query-engine.ts';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import { BY_CLAIMS } from '../e2e/by-claims.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents, randomNumbers } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';

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
  /** The companies that the caller may see. Undefined if the caller must be refused. */
  readonly companies: readonly bigint[] | 'every-company' | undefined;
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

const REFUSED = 'refused';

const CLIENTS = ['a', 'b', 'c', 'd'];

/** Cases with a register of good and bad records. The claims name a client of the register, a stranger, or nobody. */
function randomRegisters(seed: number, count: number) {
  const random = randomNumbers(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const some = (ids: readonly bigint[]) => ids.filter(() => random() < 0.4);
  const listed = (ids: readonly bigint[] | 'every-company') =>
    ids === 'every-company' ? ids : ids.map((id) => (id < 100n && random() < 0.3 ? `0${id}` : String(id)));
  const companiesIn = (report: ReportName): readonly bigint[] | 'every-company' =>
    random() < 0.12 ? 'every-company' : some(COMPANIES[report]);
  /** Changes after which a record gives no rights. */
  const spoil: ((record: object) => unknown)[] = [
    () => undefined,
    () => null,
    (record) => ({ ...record, form: 2 }),
    (record) => ({ ...record, active: false }),
    (record) => ({ ...record, active: 'yes' }),
    (record) => ({ ...record, client: 'somebody else' }),
    (record) => ({ ...record, publisherCompanies: [1000], advertiserCompanies: [1] }),
    (record) => ({ ...record, publisherCompanies: ['*'], advertiserCompanies: ['*'] }),
    (record) => ({ ...record, until: '2030-01-01' }),
  ];
  return randomCases(seed, count).map((entry) => {
    const documents = new Map<string, unknown>();
    const truth = new Map<string, Case['companies']>();
    for (const client of CLIENTS) {
      const sees = {
        publisherperformance: companiesIn('publisherperformance'),
        advertiserperformance: companiesIn('advertiserperformance'),
      };
      const record = {
        form: 1,
        client,
        name: client,
        publisherCompanies: listed(sees.publisherperformance),
        advertiserCompanies: listed(sees.advertiserperformance),
        contact: '',
        since: '2026-01-01T00:00:00Z',
        active: true,
      };
      const isGood = random() < 0.75;
      documents.set(partnerKey(client), isGood ? record : pick(spoil)(record));
      const seen = sees[entry.report];
      if (isGood && seen.length > 0) truth.set(client, seen);
    }
    const client = pick([...CLIENTS, ...CLIENTS, 'stranger', undefined]);
    const claim = pick(['client_id', 'azp', 'appid']);
    // If a register decides, claims of companies give no rights. Nor does another client's id in `sub`.
    const claims = { ...entry.claims, sub: pick(CLIENTS), ...(client !== undefined && { [claim]: client }) };
    return { ...entry, claims, documents, companies: client === undefined ? undefined : truth.get(client) };
  });
}

const expected = ({ report, companies, question }: Case): string => {
  if (companies === undefined) return REFUSED;
  const visible = rowsOf[report].filter(
    (row: EventRow) => companies === 'every-company' || companies.includes(row[GOVERNING[report]] as bigint),
  );
  return expectedReport(report, visible, question);
};

/** The cases that were answered wrongly. Runs `atOnce` cases at a time. */
async function wronglyAnswered<C extends Case>(
  cases: readonly C[],
  answer: (entry: C) => Promise<string>,
  atOnce: number,
) {
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
  service = await startService(events, { functionEnv: BY_CLAIMS });
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

const LEAST = {
  TOKEN_ISSUER: 'https://issuer.example',
  TOKEN_JWKS_URI: 'https://issuer.example/keys',
  API_SCOPE: 'api://reports',
  ATHENA_DATABASE: 'reports',
  ATHENA_WORKGROUP: 'reports',
  RESULTS_BUCKET: 'results',
};

/** A register that has these documents in its bucket. Without documents, it finds no client. */
const registerOf = (documents: ReadonlyMap<string, unknown> = new Map()): Register => ({
  find: async (client) => readPartner(documents.get(partnerKey(client)), client),
});

let queries = 0;

/** The service's answer to a question with verified claims: the report as CSV, or `REFUSED`. */
async function answerTo(
  { report: name, claims, question, documents }: Case & { documents?: ReadonlyMap<string, unknown> },
  { entitlements }: ReturnType<typeof readConfig>,
): Promise<string> {
  const report = reports.find((entry) => entry.name === name);
  if (!report) throw new Error(`there is no report ${name}`);
  const verdict = await whoseRows(entitlements, report, claims, registerOf(documents));
  if (verdict.state === 'refused') return REFUSED;
  const query = new URLSearchParams(queryOf(question));
  const parameters = Object.fromEntries([...query.keys()].map((key) => [key, query.getAll(key)]));
  const request = parseRequest(report, { parameters, accept: undefined });
  const { query: compiled, columns } = makeJob(request, verdict.entitlement, {
    version: '',
    fingerprint: '',
    isListed: true,
  });
  const signal = new AbortController().signal;
  const { csvPath } = await engine.run({ id: `case-${queries++}`, ...compiled, signal });
  const csv = await buffer(retypeCsv(columns, createReadStream(csvPath)));
  await rm(csvPath);
  return csv.toString();
}

describe('a report counts no row of a company that its caller may not see', () => {
  it('for 2,000 random registers, tokens and questions, from the claims to the CSV', async () => {
    const config = readConfig({ ...LEAST, ENTITLEMENTS: 'partners', PARTNERS_BUCKET: 'partners' });
    const cases = randomRegisters(41, 2_000);
    expect(await wronglyAnswered(cases, (entry) => answerTo(entry, config), 2)).toEqual([]);
    // The random cases include enough of each kind.
    const refused = cases.filter(({ companies }) => companies === undefined).length;
    expect(refused).toBeGreaterThan(400);
    expect(refused).toBeLessThan(1_600);
    expect(cases.filter(({ companies }) => companies === 'every-company').length).toBeGreaterThan(50);
  }, 120_000);

  it('for 1,000 random questions with random claims, from the claims to the CSV', async () => {
    const config = readConfig({
      ...LEAST,
      ENTITLEMENTS: 'claims',
      COMPANY_CLAIMS: JSON.stringify({
        publisherCompanies: { claim: 'publisher_companies' },
        advertiserCompanies: { claim: 'advertiser_companies' },
      }),
    });
    const answer = (entry: Case) => answerTo(entry, config);
    expect(await wronglyAnswered(randomCases(99, 1_000), answer, 2)).toEqual([]);
  }, 120_000);

  it('for 200 random questions with random tokens, over HTTP', async () => {
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
