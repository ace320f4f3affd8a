/** A file under `reports/` is written once, holds its execution's result, and the version that it is said to be of. */
import { type EngineQuery, reportCsv } from '../modelled-athena.ts';
import { type Clicks, clicksIn, isMarkerMoved, versionOf } from '../modelled-lake.ts';
import type { FileWrite } from '../results-port.ts';
import type { Parts } from './parts.ts';

const KEY = /^reports\/([^/]+)\/([^/]+\.csv)(\.gz)?$/;

export const executionOf = (key: string): string | undefined => KEY.exec(key)?.[1];

export function checkFile({ world, athena, lake }: Parts, { key, text, metadata, found }: FileWrite): void {
  const query = athena.queries.get(executionOf(key) ?? '');
  if (!query) return world.violate('file-of-nothing', `${key} belongs to no execution`);
  if (found && found.text !== text)
    world.violate('file-would-change', `${key} would be written with other content`);
  if (query.state !== 'SUCCEEDED' || !query.clicks || query.isJunk)
    return world.violate('file-of-nothing', `${key} is written though its query left no result`);
  if (text !== reportCsv(query.clicks))
    world.violate('file-is-not-its-result', `${key} holds ${JSON.stringify(text)}`);
  const version = metadata['data-version'];
  if (version === undefined) return;
  const states = lake.states.filter((state) => versionOf(state, query.asked.days) === version);
  if (states.length === 0)
    return world.violate('no-such-version', `${key} has data version ${version}, which the lake never had`);
  const [state] = states;
  const isRight =
    state && equal(query.clicks, clicksIn(state, query.asked.days, query.companies));
  if (isRight) return;
  if (isNamedHole({ lake }, query)) return world.count('named hole: a file came and went unmarked');
  world.violate('version-with-other-numbers', `${key} is of query ${query.id}, which read other files`);
}

/** Files that came and went inside the query, while no marker did: the hole that docs/decisions/0017 names. */
export const isNamedHole = (
  { lake }: Pick<Parts, 'lake'>,
  { read, missed, submittedAt, endedAt = submittedAt }: EngineQuery,
): boolean =>
  [...read, ...(missed ? [missed] : [])].some(
    ({ isPassing, day }) =>
      isPassing && !isMarkerMoved(lake.states, day, { from: submittedAt, to: endedAt }),
  );

export const equal = (one: Clicks, other: Clicks): boolean =>
  one.size === other.size && [...one].every(([day, clicks]) => other.get(day) === clicks);
