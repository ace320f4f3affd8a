/** Puts into the bucket what the release before left there: documents of its form, as that code wrote them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORMER_WAIT_MS, reportUrl } from './caller.ts';
import type { Invocation } from './invocation.ts';
import { reportCsv } from './modelled-athena.ts';
import { COMPANIES, versionOf } from './modelled-lake.ts';
import { clientOf } from './modelled-register.ts';
import type { FormerKind, FormerPlan } from './plan.ts';
import { sqlOf } from './read-query.ts';
import type { Backends } from './service.ts';
import type { World } from './world.ts';

interface Sample {
  readonly key: string;
  readonly document: unknown;
}

const samples = new Map<FormerKind, string>();

function sampleOf(kind: FormerKind): string {
  const known =
    samples.get(kind) ?? readFileSync(join(import.meta.dirname, `former-forms/${kind}.json`), 'utf8');
  samples.set(kind, known);
  return known;
}

const sha256 = (facts: unknown): string => createHash('sha256').update(JSON.stringify(facts)).digest('hex');

/** What the former code's ticket is called here; it has 43 characters, as those that were given out. */
export const formerTicket = (id: string): string => `former-${id}`.padEnd(43, '0');

/** Nobody of this release: a function of the one before, long gone. */
export const FORMER = 'former';

const formerFunction = (partner: string): Invocation => ({
  id: FORMER,
  functionName: 'former',
  partner,
  machine: { name: 'former', skewMs: 0 },
  startedAt: 0,
  skewMs: 0,
  random: () => 0,
  portDice: () => 0,
  isDead: true,
  calls: 0,
  faults: [],
  written: new Map(),
  die: () => {},
});

export function plantFormer(
  world: World,
  { lake, s3, athena }: Backends,
  { id, kind, partner, days }: FormerPlan,
): void {
  const now = world.time.now();
  const state = lake.now();
  const entry = world.plan.partners[partner] ?? 'every-company';
  const companies = entry === 'every-company' ? undefined : entry;
  const query = { sql: sqlOf({ days, companies }), parameters: [] };
  const version = versionOf(state, days);
  const objects = [...state.files.values()]
    .filter(({ day }) => days.includes(day))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const trace = sha256(
    objects.map(({ key, etag, bytes, lastModified }) => [
      key,
      etag,
      bytes,
      Math.floor(lastModified / 1_000) * 1_000,
    ]),
  ).slice(0, 32);
  const columns = [
    { name: 'Day', type: 'datetime' },
    { name: 'Clicks', type: 'integer' },
  ];
  const order = sha256([query, columns, version]);
  const token = sha256([order, trace, '', query]);
  const isStarted = kind !== 'starting' && kind !== 'waits-for-share';
  const execution = isStarted
    ? athena.plant(query, token, formerFunction(partner), {
        agoMs: kind === 'under-way' ? 2_000 : 9_000,
        ends: kind === 'under-way' ? undefined : endOf(kind),
      })
    : undefined;
  const window = new URL(reportUrl(days), 'https://x').searchParams;
  const { longestQueryMs } = world.plan.settings;
  const [start, end] = [window.get('startInclusive') ?? '', window.get('endExclusive') ?? ''];
  const fileName = `publisherperformance_${[start, end].map((time) => time.replaceAll(/[-:]/g, '')).join('_')}.csv`;
  const giveUp = 1.05 * longestQueryMs - FORMER_WAIT_MS;
  const texts: Readonly<Record<string, string>> = {
    order,
    trace,
    token,
    version,
    start,
    end,
    fileName,
    execution: execution?.id ?? '',
    client: clientOf(partner),
    clientHash: createHash('sha256').update(clientOf(partner)).digest('hex'),
    ticket: formerTicket(id),
  };
  const later = {
    lease: longestQueryMs - 2_200,
    giveUp,
    publish: giveUp + 900_000,
    expires: giveUp + 960_000,
  };
  const filled = sampleOf(kind)
    .replaceAll(/"\{time([+-])(\w+)\}"/g, (_, sign: string, by: string) => {
      const ms = by in later ? later[by as keyof typeof later] : Number(by);
      return String(Math.round(sign === '+' ? now + ms : now - ms));
    })
    .replaceAll('"{bytesScanned}"', String(execution?.bytesScanned ?? 0))
    .replaceAll('"{companies}"', JSON.stringify(companies?.map(String) ?? 'every-company'))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => texts[name] ?? '');
  if (kind === 'answered' && execution?.clicks)
    s3.put(`reports/${execution.id}/${fileName}`, reportCsv(execution.clicks), {
      file: { fileName, metadata: { 'query-execution-id': execution.id, 'data-version': version } },
    });
  for (const { key, document } of JSON.parse(filled) as Sample[])
    if (!key.startsWith('shares/') || world.plan.settings.queriesPerPartner > 0)
      s3.put(key, JSON.stringify(document));
  world.count(`former form: ${kind}`);
  world.tell?.('former', `${kind} ${partner} ${days.join()} ${companies ?? COMPANIES}`);
}

const endOf = (kind: FormerKind): 'SUCCEEDED' | 'FAILED' | 'scan limit' | 'large' => {
  if (kind === 'failed') return 'FAILED';
  if (kind === 'cut-off') return 'scan limit';
  return kind === 'publication' ? 'large' : 'SUCCEEDED';
};
