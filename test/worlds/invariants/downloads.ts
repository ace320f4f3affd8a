/** What a caller downloads: its own rows only, of the version that the answer names, and of no older one if it is a hit. */
import type { Download } from '../caller.ts';
import { reportCsv } from '../modelled-athena.ts';
import { clicksIn, type LakeState, maskOf, statesDuring, versionOf } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import { FORMER } from '../plant-former.ts';
import { equal, executionOf, isNamedHole } from './files.ts';
import type { Parts } from './parts.ts';

/** For how long a function may keep what the register said, and how far two machines' clocks may differ meanwhile. */
const REGISTER_MS = 60_000;

export function checkDownload(
  { world, athena, lake, register }: Parts,
  { key, stored, text, request }: Download,
): void {
  const { answer, startedAt, answeredAt, pull } = request;
  const { partner, days } = pull.caller;
  if (!stored || text === undefined)
    return world.violate('link-without-file', `${request.id} was led to ${key}, which is not there`);
  const query = athena.queries.get(executionOf(key) ?? '');
  if (!query?.clicks) return world.violate('file-of-nothing', `${key} belongs to no execution with a result`);
  if (text !== reportCsv(query.clicks)) world.violate('file-is-not-its-result', `${request.id} got ${text}`);
  if (query.asked.days.join() !== days.join())
    world.violate('other-window', `${request.id} got days ${query.asked.days}`);

  const opened = register.during(partner, startedAt - REGISTER_MS, answeredAt).map(openedBy);
  if (!opened.some((companies) => maskOf(companies) === query.companies))
    world.violate(
      'rows-of-others',
      `${request.id} of ${partner} got the rows of company mask ${query.companies}`,
    );

  if (query.startedBy.id === FORMER) world.count('former form: its report is given');
  const numbersOf = (state: LakeState) => clicksIn(state, days, query.companies);
  const version = answer.headers['Data-Version'];
  const { metadata } = stored;
  if (version !== undefined && metadata['data-version'] !== undefined && metadata['data-version'] !== version)
    world.violate('two-versions', `${request.id}: the answer says ${version}, its file ${metadata['data-version']}`);
  if (version !== undefined) {
    const state = lake.states.find((each) => versionOf(each, days) === version);
    if (!state) world.violate('no-such-version', `${request.id}: the lake never had ${version}`);
    else if (!equal(numbersOf(state), query.clicks) && !isNamedHole({ lake }, query))
      world.violate('version-with-other-numbers', `${request.id} got query ${query.id} as ${version}`);
  }
  const status = answer.headers['Cache-Status'] ?? '';
  if (!status.endsWith('hit')) return;
  const listingMs = world.plan.settings.listingSeconds * 1_000;
  const clocksMs = listingMs > 0 ? 2 * world.plan.clocks.skewMs + Math.abs(world.plan.clocks.wrong?.skewMs ?? 0) : 0;
  const states = statesDuring(lake.states, { from: startedAt - listingMs - clocksMs, to: answeredAt });
  const isOfOne = states.some(
    (state) =>
      (version === undefined || versionOf(state, days) === version) && equal(numbersOf(state), query.clicks as never),
  );
  if (isOfOne || isNamedHole({ lake }, query)) return;
  // Without a version, a young report may be given again though the data changed under its query.
  if (version === undefined && listingMs > 0) return world.count('a young report of no one version is given again');
  world.violate('stale-hit', `${request.id} got query ${query.id}, of data that were no more`);
}
