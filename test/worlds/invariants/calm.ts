/**
 * Rules for worlds in which nothing goes wrong: no fault, no failing query, no wrong clock. There, an answer must not
 * only be right. It comes soon, says where it comes from, names its version, and costs few calls. And rules for all worlds
 * about those who wait: a free slot is taken, and a query that nobody follows is taken over.
 */
import { resultKey, slotsKey } from '../../../lib/results/keys.ts';
import type { AnsweredRequest, Download } from '../caller.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import { statesDuring, versionOf } from '../modelled-lake.ts';
import { clientOf, storedCompanies } from '../modelled-register.ts';
import { type Parts, type Pull, recordOf } from '../parts.ts';
import { BEGINNING, type World } from '../world.ts';
import type { Findings } from './judge.ts';
import { entriesOf } from './refusals.ts';
import type { Slot } from './slots.ts';

/** The latest that a request gets its report after Athena shows the end of the query. */
const LATE_MS = 4_000;
/**
 * The most questions to Athena about a query before its end, by the shortest pauses of `nextAskMs` (`lib/delivery/pace.ts`):
 * each question comes when the query is half as old again. Each request that takes the query over may ask once more.
 */
const mostAsks = (runMs: number, requests: number): number =>
  1 + Math.log(1 + runMs / 4_000) / Math.log(1.48) + requests;
/** The most calls of one request. It looks for a result some forty times a second at first, later less often. */
const MOST_CALLS = 700;
/** The most questions after its end, until Athena shows the end. */
const ASKS_AT_ITS_END = 5;
/** The calls of a request for a report that exists. A first request, beside listings: register, record and slots. */
const MOST_CALLS_OF_A_HIT = 6;
const MOST_BESIDE_LISTINGS = 3;
/** The lake is listed at the start and after the query. If the window is empty, the table is looked for too. */
const MOST_LISTINGS = 4;
/** An end is recorded within this time after a request has seen it. */
const RECORDED_MS = 2_000;
/** If the lake has stood still since this long before a query, no listing for it can have been older. */
const LISTED_BEFORE_MS = 30_000;
/** The upload of a large file may go on for this long after the file can be seen. */
const LARGE_MS = 65_000;
/** A request must see a query's end within this time, or else the report has no version (docs/decisions/0042). */
const SEEN_SOON_MS = 8_000;

/** Whether one of the requests of a pull started the query. */
export const isOwn = ({ startedBy, submittedAt }: EngineQuery, { caller, startedAt }: Pull): boolean =>
  startedBy.id.startsWith(`${caller.id}.`) && submittedAt >= startedAt;

/** Whether a request that found the result had seen the end soon. A result may appear later than the end. */
export const isSeenSoon = ({ endedAt = 0, resultAt = 0, toldEndTo }: EngineQuery): boolean =>
  toldEndTo.some(
    ({ at, by }) => at - endedAt < SEEN_SOON_MS && Math.max(at, by.plainFileAt ?? 0) >= resultAt,
  );

/** The queries for a report. A caller may have waited for one of another listing before. */
export const queriesFor = ({ queries }: Parts['athena'], { report, companies }: EngineQuery): EngineQuery[] =>
  [...queries.values()].filter((each) => each.report.days === report.days && each.companies === companies);

/** What a download in a calm world shows. */
export function calmFindings(parts: Parts, { key, stored, request }: Download, query: EngineQuery): Findings {
  const { world, lake, athena, s3 } = parts;
  const { answer, pull, startedAt, answeredAt, hop } = request;
  const { calls, listings, line } = answer.invocation;
  const { shownAt = answeredAt, endedAt = answeredAt, resultAt = 0, location, submittedAt } = query;
  const status = answer.headers['Cache-Status'];
  const isBefore = [stored?.lastModified ?? startedAt, ...query.toldEndTo.map(({ at }) => at)].every(
    (at) => at < pull.startedAt - RECORDED_MS,
  );
  const said = status?.endsWith('hit') ? 'hit' : status?.endsWith('collapsed') ? 'collapsed' : 'miss';
  // A caller that starts over keeps the status of its first query. A large report is no hit before it has files.
  const isPlain = !query.isLarge && [...athena.queries.values()].every(({ cause }) => cause === undefined);
  const isOnePage = isPlain && world.plan.settings.keysAPage === 1_000;
  const isPlainHit = isOnePage && said === 'hit' && !line?.['waitsForShare'];
  const isRight = isOwn(query, pull) ? said === 'miss' : isBefore ? said === 'hit' : said !== 'miss';
  const from = Math.max(submittedAt - LISTED_BEFORE_MS, BEGINNING + 1);
  const [state, changed] = statesDuring(lake.states, { from, to: answeredAt });
  const isNamed = !state || changed || answer.headers['Data-Version'] === versionOf(state, query.report.days);
  // A caller that gets other companies, and these again, forgets which query is its own.
  const isMoved = entriesOf(parts, pull, answeredAt).length > 1;
  const all = queriesFor(athena, query);
  const ends = all.map((each) => each.shownAt ?? 0).filter((at) => at <= answeredAt);
  const since = Math.max(shownAt, resultAt, startedAt, ...ends);
  const bothAt = s3.objects.get(key.replace(/\.gz$/, ''))?.lastModified ?? answeredAt;
  const gzipAt = query.isLarge ? (s3.objects.get(`${key}.gz`)?.lastModified ?? bothAt + LARGE_MS) : 0;
  // The file that the caller can take is given before the other one is made.
  const isLateGzip =
    key.endsWith('.gz') &&
    query.isLarge &&
    all.length === 1 &&
    answeredAt - Math.max(startedAt, bothAt) > LATE_MS;
  // A result that lies elsewhere is not seen when it appears.
  const isLate = isPlain && !location?.includes('reused') && answeredAt - since > LATE_MS;
  const most = mostAsks(endedAt - submittedAt, query.recordedBy.size);
  return {
    'cache-status-wrong': isPlain && !isMoved ? !isRight : undefined,
    'version-missing': isSeenSoon(query) ? !isNamed : undefined,
    'gzip-not-given': pull.caller.acceptsGzip
      ? !key.endsWith('.gz') && gzipAt < startedAt - LARGE_MS
      : undefined,
    'answered-late': isLateGzip || isLate,
    'asked-too-often': isOwn(query, pull)
      ? query.asksBeforeEnd > most || query.asks > most + ASKS_AT_ITS_END
      : undefined,
    'too-many-calls':
      calls > (isPlainHit ? MOST_CALLS_OF_A_HIT : MOST_CALLS) ||
      (isPlainHit && hop === 0 && calls - listings > MOST_BESIDE_LISTINGS),
    'listed-too-often': isOnePage ? listings > MOST_LISTINGS : undefined,
    'log-names-no-query': line?.['queryExecutionId'] !== query.id,
    'first-version-missing': isFirstUnnamed(parts, request, query),
  };
}

/**
 * Whether a report has no version whose query was the first of its caller for these companies, or followed a query that
 * failed because files changed. The lake was listed for it at the start of the request, or after the failure. So the
 * report has a version if the lake has stood still since then, also where listings are kept.
 */
function isFirstUnnamed(
  { world, lake, athena, pulls }: Parts,
  { answer, pull, answeredAt }: AnsweredRequest,
  query: EngineQuery,
): boolean | undefined {
  if (!isOwn(query, pull) || query.location?.includes('reused') || !isSeenSoon(query)) return undefined;
  const before = queriesFor(athena, query).filter(({ number }) => number < query.number);
  const last = before.at(-1);
  const isRestart = last?.cause === 'file vanished' && last.startedBy.id.startsWith(`${pull.caller.id}.`);
  if (before.length > 0 && !isRestart) return undefined;
  const listingMs = isRestart ? 0 : world.plan.settings.listingSeconds * 1_000;
  const listedFrom = isRestart ? (last.endedAt ?? 0) : query.startedBy.startedAt - listingMs;
  const from = Math.max(listedFrom, BEGINNING + 1);
  const isStill = statesDuring(lake.states, { from, to: answeredAt }).length === 1;
  // Two callers may start over at once, and one of them then joins the other's query.
  const isAlone = pulls.filter(({ caller }) => caller.days === pull.caller.days).length === 1 || isRestart;
  return isStill && isAlone ? answer.headers['Data-Version'] === undefined : undefined;
}

/** How long a request waits before it leads its caller on: the first one for a short time, each hop for a long one. */
const FIRST_WAIT_MS = 8_000;
const HOP_WAIT_MS = 25_000;
/** A request whose calls fail ends this much earlier, rather than pause once more. */
const LONGEST_PAUSE_MS = 5_000;
/**
 * Within this time, a request that waits takes over a query that nobody follows: 2 s because ages are not exact, a random
 * pause of 1 s, and the time of its calls. The rest is spare.
 */
const TAKEN_OVER_MS = 6_000;
/** When a function died last that had taken a slot and had not started its query. */
const lostAt = new WeakMap<World, number>();

export function noteDeath({ world }: Parts, { answer: { invocation }, answeredAt }: AnsweredRequest): void {
  const written = [...invocation.written].filter(([key]) => !key.startsWith('waiting/'));
  const [key = '', stored] = written.at(-1) ?? [];
  const { state } = (stored?.document ?? {}) as { readonly state?: string };
  if (key.startsWith('slots/') || state === 'starting') lostAt.set(world, answeredAt);
}

/** A slot that has been free for this long is found. */
const FREE_SLOT_MS = 5_000;
const UNCLAIMED_MS = 30_000;
/** If a function died before it used its slot, the slot is found after a minute. */
const LOST_SLOT_MS = 100_000;

/** What an answer shows that leads its caller to another hop. Some clients follow few redirects. */
export function waitingFindings(parts: Parts, request: AnsweredRequest): Findings {
  const { answer, startedAt, answeredAt, hop, pull } = request;
  const [, ticket] = /downloads\/([^/]+)\//.exec(answer.headers['Location'] ?? '') ?? [];
  const { id, machine, faults } = answer.invocation;
  if (ticket === undefined || machine.isOfReleaseBefore) return {};
  const { happened } = parts.world.troubles;
  const hasMet = happened.some((each) => each.startsWith(`conditional writes meet ${id}/`));
  const pauseMs = faults.length > 0 || hasMet ? LONGEST_PAUSE_MS : 0;
  const { document } = parts.s3.objects.get(`waiting/${ticket}.json`) ?? {};
  const { progress, companies } = (document ?? {}) as {
    progress?: { waitsFor: string };
    companies?: unknown;
  };
  const isForSlot = progress?.waitsFor === 'slot' && faults.length === 0;
  const isForAttempt = progress?.waitsFor === 'attempt' && faults.length === 0 && !hasMet;
  const record = parts.s3.objects.get(`jobs/${answer.invocation.line?.['job']}.json`);
  const { state = '', leaseMs = 0 } = (record?.document ?? {}) as { state?: string; leaseMs?: number };
  const leasedUntil = (record?.lastModified ?? 0) + leaseMs;
  // A request that lists the lake again may go on with another job.
  const since = answer.invocation.listedAt ?? startedAt;
  // Who takes over an attempt that was not started needs a slot.
  const needsNoSlot = parts.world.plan.settings.queriesPerPartner === 0 && state === 'starting';
  const mayTakeOver = record !== undefined && (state === 'under-way' || needsNoSlot);
  const isOfEntry = entriesOf(parts, { ...pull, startedAt }, answeredAt).some(
    ({ entry }) => entry && String(companies) === String(storedCompanies(entry)),
  );
  return {
    'ticket-of-other-companies': document && faults.length === 0 && !hasMet ? !isOfEntry : undefined,
    'led-on-early': answeredAt - startedAt < (hop === 0 ? FIRST_WAIT_MS : HOP_WAIT_MS) - pauseMs,
    'left-alone':
      isForAttempt && mayTakeOver ? answeredAt - Math.max(since, leasedUntil) > TAKEN_OVER_MS : undefined,
    'free-slot-not-taken': isForSlot ? isSlotFree(parts, request, FREE_SLOT_MS) : undefined,
    'lost-slot-not-taken': isForSlot ? isSlotFree(parts, request, LOST_SLOT_MS) : undefined,
  };
}

/** Whether a slot of a partner has been free for some time, although one of its callers waits for it. */
function isSlotFree(
  { world, athena, s3 }: Parts,
  { answer, answeredAt, pull }: AnsweredRequest,
  freeMs: number,
): boolean | undefined {
  const { lastModified: takenAt = 0, document } =
    s3.objects.get(slotsKey(clientOf(pull.caller.partner))) ?? {};
  const { slots = [] } = (document ?? {}) as { readonly slots?: readonly Slot[] };
  // A slot that no attempt has counts for half a minute. Athena may refuse to start the query of one that has.
  const takenUntil = slots.map(({ id, record }) => {
    const { state, slot } = (s3.objects.get(record)?.document ?? {}) as { state?: string; slot?: string };
    return slot !== id ? takenAt + UNCLAIMED_MS : state === 'starting' ? takenAt : 0;
  });
  if (answeredAt - Math.max(lostAt.get(world) ?? 0, ...takenUntil) < freeMs) return undefined;
  const { queriesPerPartner, longestQueryMs } = world.plan.settings;
  const since = answeredAt - freeMs;
  // After the lease, a result shows that a query has ended, even if nobody follows it any more. Or Athena has said so when
  // this request looked for a slot.
  const hasFreedSlot = ({ id, slotFreedFor }: EngineQuery): boolean => {
    const [result, record] = [s3.objects.get(resultKey(id)), recordOf(s3, id)];
    const { leaseMs = 0 } = (record?.document ?? {}) as { readonly leaseMs?: number };
    const leftAt = (record?.lastModified ?? 0) + leaseMs;
    return (
      slotFreedFor.has(answer.invocation) ||
      (result !== undefined && Math.max(result.lastModified, leftAt) < since)
    );
  };
  const taken = [...athena.queries.values()].filter((query) => {
    const { startedBy, endedAt = answeredAt, toldEndTo, submittedAt, resultAt } = query;
    return (
      startedBy.partner === pull.caller.partner &&
      !hasFreedSlot(query) &&
      // A query whose end nobody has seen keeps its slot for a while, and so does one whose result comes late.
      (endedAt >= since ||
        resultAt !== undefined ||
        toldEndTo.every(({ at, by }) => at >= since || by.isDead)) &&
      answeredAt - submittedAt < 2.1 * longestQueryMs
    );
  });
  return taken.length < queriesPerPartner;
}
