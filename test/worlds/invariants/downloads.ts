/** Rule: a caller downloads only its own rows, of the version that the answer names. A hit is never stale. */
import type { AnsweredRequest, Download } from '../caller.ts';
import { type EngineQuery, reportCsv } from '../modelled-athena.ts';
import { clicksIn, maskOf, statesDuring, versionOf } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import type { Parts } from '../parts.ts';
import { calmFindings } from './calm.ts';
import { executionOf } from './files.ts';
import { type Findings, judge } from './judge.ts';
import { entriesOf } from './refusals.ts';
import { equal, isNamedHole, versionFindings } from './versions.ts';

export function checkDownload(parts: Parts, download: Download): void {
  const { key, request, text } = download;
  // Release 1.0.0 may lead a hop of this release to a report of its own that is older than its files are kept.
  const isOfBoth = parts.world.plan.isMixed && request.hop > 0;
  const query = parts.athena.queries.get(executionOf(key) ?? '');
  const findings: Findings = {
    'link-without-file': isOfBoth ? undefined : text === undefined,
    'file-of-nothing': text === undefined ? undefined : !query,
    ...(text !== undefined && query && findingsOf(parts, download, query)),
  };
  judge(parts.world, findings, () => `${request.id} got ${key}, made for company mask ${query?.companies}`);
}

function findingsOf(parts: Parts, download: Download, query: EngineQuery): Findings {
  const { key, stored, text, request } = download;
  const { answer, startedAt, answeredAt, pull } = request;
  const { caller } = pull;
  const version = answer.headers['Data-Version'];
  const ofFile = stored?.file?.metadata['data-version'];
  const opened = entriesOf(parts, { caller, startedAt }, answeredAt).map(({ entry }) => openedBy(entry));
  const isHit = answer.headers['Cache-Status']?.endsWith('hit');
  // A function that dies after it has written a small file, or release 1.0.0, may have known no version.
  const isLeftBehind = ofFile === undefined && (!query.isLarge || parts.world.plan.isMixed);
  return {
    'file-is-not-its-result': !query.clicks || text !== reportCsv(query.clicks),
    'other-window': query.report.days.join() !== caller.days.join(),
    'rows-of-others': opened.every((companies) => maskOf(companies) !== query.companies),
    'gzip-unasked': key.endsWith('.gz') && !caller.acceptsGzip,
    'two-versions': version === undefined || isLeftBehind ? undefined : ofFile !== version,
    ...(version !== undefined && versionFindings(parts, query, version)),
    'joined-after-its-end': version === undefined ? hasJoinedLate(parts, request, query) : undefined,
    'stale-hit': isHit ? isStale(parts, download, query) : undefined,
    'emptiness-told-wrongly': tellsWrongly(parts, download, query),
    ...calmFindings(parts, download, query),
  };
}

/** Times that the service stores are wrong by up to this much. */
const COARSE_MS = 3_000;
/** Failing calls may keep a request from recording an end for this long. */
const HELD_UP_MS = 30_000;

/** A report without a version is for callers who came before its query's end, or while its listing may be kept. */
function hasJoinedLate(
  { world }: Parts,
  { pull, startedAt, answer }: AnsweredRequest,
  { toldEndTo }: EngineQuery,
): boolean | undefined {
  if (answer.invocation.faults.length > 0) return undefined;
  const { settings, clocks } = world.plan;
  const heldUpMs = toldEndTo.some(({ by }) => by.faults.length > 0) ? HELD_UP_MS : 0;
  const seenAt = Math.max(...toldEndTo.map(({ at }) => at));
  const listedAt = Math.max(...toldEndTo.map(({ by }) => by.startedAt));
  const keptMs = settings.listingSeconds * 1_000;
  const isKept = keptMs > 0 && startedAt <= listedAt + keptMs + COARSE_MS + heldUpMs + 2 * clocks.skewMs;
  return !isKept && pull.startedAt > seenAt + COARSE_MS + heldUpMs;
}

/** Whether a hit fits no state of the lake during the request. */
function isStale(parts: Parts, { request, stored }: Download, query: EngineQuery): boolean {
  const { world, lake } = parts;
  const { answer, pull, startedAt, answeredAt } = request;
  const { days } = query.report;
  const version = answer.headers['Data-Version'];
  const { settings, clocks } = world.plan;
  const listingMs = settings.listingSeconds * 1_000;
  // The machine measures the age of a cached listing by its own clock, which may be wrong by this much.
  const clockMs = listingMs > 0 ? 2 * clocks.skewMs + Math.abs(clocks.wrong?.skewMs ?? 0) : 0;
  // A hop that comes from the other release finds what was made before for the version that its caller was to get.
  const askedAt = world.plan.isMixed ? pull.startedAt : startedAt;
  const isOfOne = statesDuring(lake.states, { from: askedAt - listingMs - clockMs, to: answeredAt }).some(
    (state) =>
      (version === undefined || versionOf(state, days) === version) &&
      query.clicks !== undefined &&
      equal(clicksIn(state, days, query.companies), query.clicks),
  );
  if (isOfOne || isNamedHole(parts, query)) return false;
  // A report without a version may be given again, although the data changed during its query, for as long as the
  // listing may be kept of the request that wrote it.
  const isTooOld = startedAt - (stored?.lastModified ?? 0) > listingMs + clockMs + COARSE_MS;
  if (version !== undefined || listingMs === 0 || isTooOld) return true;
  world.count('a recent report without a data version is answered again');
  return false;
}

/**
 * Whether an answer says of a report with rows that it has none, or gives no reason for one without. A publishing function
 * that dies does not tell how many rows its report has, and release 1.0.0 tells nothing.
 */
function tellsWrongly(
  { world }: Parts,
  { request: { answer, hop } }: Download,
  { clicks, isLarge }: EngineQuery,
): boolean | undefined {
  if (answer.invocation.machine.isOfReleaseBefore || (world.plan.isMixed && hop > 0)) return undefined;
  const reason = answer.headers['Report-Empty'];
  if (clicks?.size !== 0) return reason !== undefined;
  if (reason === undefined) return isLarge ? undefined : true;
  // All companies have records in each file. So only a report over days without files has no rows.
  return answer.headers['Data-Version'] === undefined ? false : reason !== 'no-records';
}
