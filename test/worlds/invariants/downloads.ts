/** Rule: a caller downloads only its own rows, of the version that the answer names. A hit is never stale. */
import type { AnsweredRequest, Download } from '../caller.ts';
import { type EngineQuery, reportCsv } from '../modelled-athena.ts';
import { clicksIn, maskOf, statesDuring, versionOf } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import type { Parts } from '../parts.ts';
import { calmFaults, listingFault } from './calm.ts';
import { executionOf } from './files.ts';
import { REGISTER_MS } from './refusals.ts';
import { crossings } from './releases.ts';
import { equal, isNamedHole, versionFault } from './versions.ts';

export function checkDownload(parts: Parts, download: Download): void {
  const { world, athena } = parts;
  const { key, request } = download;
  const query = athena.queries.get(executionOf(key) ?? '');
  // Release 1.0.0 may lead a hop of this release to a report of its own that is older than its files are kept.
  const isOfBoth = crossings(request.pull) > 0;
  const faults =
    download.text === undefined
      ? [isOfBoth ? undefined : 'link-without-file']
      : query
        ? [
            ...faultsOf(parts, download, query),
            ...calmFaults(parts, download, query),
            listingFault(parts, request, query),
          ]
        : ['file-of-nothing'];
  for (const fault of faults)
    if (fault !== undefined)
      world.violate(fault, `${request.id} got ${key}, made for company mask ${query?.companies}`);
}

function faultsOf(
  parts: Parts,
  { key, stored, text, request }: Download,
  query: EngineQuery,
): (string | undefined)[] {
  const { answer, startedAt, answeredAt, pull } = request;
  const { partner, days } = pull.caller;
  const version = answer.headers['Data-Version'];
  const ofFile = stored?.file?.metadata['data-version'];
  // If a clock is set back by as much as has gone by, an entry that is kept seems to be read a moment ago.
  const setMs = Math.min(0, parts.world.plan.clocks.set?.byMs ?? 0);
  const opened = [0, setMs]
    .flatMap((ms) => parts.register.during(partner, startedAt + ms - REGISTER_MS, answeredAt + ms))
    .map(({ entry }) => openedBy(entry));
  return [
    query.clicks && text === reportCsv(query.clicks) ? undefined : 'file-is-not-its-result',
    query.asked.days.join() === days.join() ? undefined : 'other-window',
    opened.some((companies) => maskOf(companies) === query.companies) ? undefined : 'rows-of-others',
    key.endsWith('.gz') && !pull.caller.acceptsGzip ? 'gzip-unasked' : undefined,
    version !== undefined && ofFile !== undefined && ofFile !== version ? 'two-versions' : undefined,
    version === undefined ? unversionedFault(parts, request, query) : versionFault(parts, query, version),
    answer.headers['Cache-Status']?.endsWith('hit') ? hitFault(parts, { request, stored }, query) : undefined,
  ];
}

/** Times that the service stores are wrong by up to this much. */
const COARSE_MS = 3_000;
/** Failing calls may keep a request from recording an end for this long. */
const HELD_UP_MS = 30_000;

/** A report without a version is for callers who came before its query's end, or while its listing may be kept. */
function unversionedFault(
  { world }: Parts,
  { pull, startedAt, answer }: AnsweredRequest,
  { toldEndTo }: EngineQuery,
): string | undefined {
  const { settings, clocks, isMixed } = world.plan;
  if (isMixed || !settings.isListed || clocks.set || clocks.wrong || answer.invocation.faults.length > 0)
    return undefined;
  const heldUpMs = toldEndTo.some(({ by }) => by.faults.length > 0) ? HELD_UP_MS : 0;
  const seenAt = Math.max(...toldEndTo.map(({ at }) => at));
  const isEarly = pull.startedAt <= seenAt + COARSE_MS + heldUpMs;
  const listedAt = Math.max(...toldEndTo.map(({ by }) => by.startedAt));
  const keptMs = settings.listingSeconds * 1_000;
  const isKept = keptMs > 0 && startedAt <= listedAt + keptMs + COARSE_MS + heldUpMs + 2 * clocks.skewMs;
  return isEarly || isKept ? undefined : 'joined-after-its-end';
}

/** The fault of a hit whose report fits no state of the lake during the request. Undefined if it fits a state. */
function hitFault(
  { world, lake }: Parts,
  { request: { answer, pull, startedAt, answeredAt }, stored }: Pick<Download, 'request' | 'stored'>,
  query: EngineQuery,
): string | undefined {
  const { days } = query.asked;
  const version = answer.headers['Data-Version'];
  const { settings, clocks } = world.plan;
  const listingMs = settings.listingSeconds * 1_000;
  // The machine measures the age of a cached listing by its own clock, which may be wrong by this much.
  const clockMs = listingMs > 0 ? 2 * clocks.skewMs + Math.abs(clocks.wrong?.skewMs ?? 0) : 0;
  // A hop that comes from the other release finds what was made before for the version that its caller was to get.
  const asked = crossings(pull) > 0 ? pull.startedAt : startedAt;
  const isOfOne = statesDuring(lake.states, { from: asked - listingMs - clockMs, to: answeredAt }).some(
    (state) =>
      (version === undefined || versionOf(state, days) === version) &&
      query.clicks !== undefined &&
      equal(clicksIn(state, days, query.companies), query.clicks),
  );
  if (isOfOne || isNamedHole({ lake, world }, query)) return undefined;
  // A report without a version may be given again, although the data changed during its query, for as long as the
  // listing may be kept of the request that wrote it.
  const isTooOld = startedAt - (stored?.lastModified ?? 0) > listingMs + clockMs + COARSE_MS;
  if (version !== undefined || listingMs === 0 || isTooOld) return 'stale-hit';
  world.count('a recent report without a data version is answered again');
  return undefined;
}
