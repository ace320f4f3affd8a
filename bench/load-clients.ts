/** The clients of `load.ts`, in a process of their own. */
import { setTimeout as delay } from 'node:timers/promises';
import { advertiserReport, publisherReport } from '../lib/report/catalogue.ts';
import { pathOf, type Question } from './questions.ts';

export interface LoadPlan {
  readonly apiUrl: string;
  readonly authorization: string;
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
}

export interface LoadFound {
  /** Milliseconds of each report that had not been asked for before. */
  readonly newMs: number[];
  readonly againMs: number[];
  readonly bytes: number;
  readonly failures: string[];
}

const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const DAYS = 59;
const SHAPES: readonly Omit<Question, 'firstDay' | 'days'>[] = [
  { report: publisherReport, fields: ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['DateTime', 'DeviceOrProxy', 'ServedAds'] },
  { report: publisherReport, fields: ['PlacementId', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['Day', 'PublisherCompanyId', 'ServedAds', 'Revenue'] },
  { report: advertiserReport, fields: ['Day', 'CampaignId', 'Impressions', 'Clicks', 'Spend'] },
  { report: advertiserReport, fields: ['CampaignLineId', 'CreativeId', 'Conversions'] },
];
const LENGTHS = [1, 7, 14, 31, 32];

const { apiUrl, authorization, clients, seconds, seed } = JSON.parse(process.argv[2] ?? '') as LoadPlan;

/** Numbers that look drawn and are the same in every run. */
let state = seed;
function draw(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return Math.floor((state / 0x8000_0000) * below);
}
const oneOf = <T>(values: readonly T[]): T => values[draw(values.length)] as T;

function newPath(): string {
  const days = oneOf(LENGTHS);
  const firstDay = new Date(FIRST_DAY + draw(DAYS - days) * DAY_MS).toISOString().slice(0, 10);
  const path = pathOf({ ...oneOf(SHAPES), firstDay, days });
  return draw(3) === 0 ? `${path}&filter[PublisherCompanyId]=${1000 + draw(20)}` : path;
}

const found: LoadFound & { bytes: number } = { newMs: [], againMs: [], bytes: 0, failures: [] };
const pulled: string[] = [];
const asked = new Set<string>();

async function pull(path: string): Promise<number> {
  const from = performance.now();
  const response = await fetch(apiUrl + path, {
    headers: { Authorization: authorization, Accept: 'text/csv' },
  });
  const body = await response.arrayBuffer();
  const isReport = response.status === 200 && response.headers.get('content-type')?.startsWith('text/csv');
  if (!isReport)
    throw new Error(`${response.status} for ${path}: ${Buffer.from(body).toString().slice(0, 500)}`);
  found.bytes += body.byteLength;
  return performance.now() - from;
}

async function client(until: number): Promise<void> {
  while (Date.now() < until) {
    const again = pulled.length > 0 && draw(3) > 0;
    const path = again ? oneOf(pulled) : newPath();
    const isNew = !asked.has(path);
    asked.add(path);
    try {
      (isNew ? found.newMs : found.againMs).push(await pull(path));
      if (isNew) pulled.push(path);
    } catch (error) {
      found.failures.push(String(error));
      // A service that refuses at once must not be asked in a tight loop.
      await delay(100);
    }
  }
}

const until = Date.now() + seconds * 1_000;
await Promise.all(Array.from({ length: clients }, () => client(until)));
process.stdout.write(JSON.stringify(found));
