/**
 * All rules, each with the troubles that excuse it in a whole world. A promise has none: it is judged in every world, and
 * its own file says which request or query can't keep it, and why. What a report costs and how soon it comes depends on
 * every trouble before. Such a rule does not guess what came of a trouble: as soon as a world has one of those that the
 * table names, the rule is not judged in this world any more.
 */
import { TROUBLES_OF_CALLS, type Trouble } from '../troubles.ts';
import type { World } from '../world.ts';

/**
 * The releases share tickets, slots and publications, but no records: a caller whose hop comes to the other release
 * waits there for another query. What release 1.0.0 answers, costs or forgets can't be mended.
 */
const BESIDE = ['release before'] as const;
/** Anything but a wrong clock, queries that fail, and listings that are kept. */
const QUIET = [
  ...BESIDE,
  ...TROUBLES_OF_CALLS,
  'result is removed',
  'query is forgotten',
  'token is of another query',
  'unlisted lake',
  'clock is set',
  'query hangs',
  'result is no CSV of the engine',
] as const;
/** Anything that costs calls or time. Events, and results that come late or lie elsewhere, cost neither. */
const CALM = [...QUIET, 'wrong clock', 'query fails', 'kept listings'] as const;

const EXCUSES = {
  // Answers.
  'handler-threw': [],
  'reached-time-limit': [],
  'status-outside-contract': [],
  'first-answer-late': [],
  'no-location': [],
  'no-retry-after': [],
  'denial-untold': [],
  'waits-without-end': [],
  'waited-for-gzip': [],
  'lease-kept': [],
  'not-stopped': [],
  'led-on-early': [],
  'left-alone': [],
  'ticket-of-other-companies': [],
  'shared-without-listing': [...BESIDE, 'outage of S3'],
  'data-changes-without-end': [...BESIDE, 'outage of S3'],
  'stood-still': CALM,
  'free-slot-not-taken': [...QUIET, 'wrong clock'],
  'lost-slot-not-taken': [...BESIDE, 'outage of S3'],
  'days-told-wrongly': [],
  // Refusals.
  'too-large-without-cause': [],
  'refused-below-limit': [],
  'unauthorized-without-cause': [],
  'missing-without-cause': [],
  'ticket-gone': [],
  'missing-though-there': [],
  'emptied-during-query': [...BESIDE, 'kept listings'],
  // Failures.
  'failed-without-cause': [],
  'failure-of-others': [],
  'not-tried-again': [],
  'stopped-query-is-500': [],
  'changed-data-is-500': ['unlisted lake'],
  // What is not available.
  'cause-not-logged': [],
  'overloaded-while-waiting': [],
  'overloaded-without-cause': [],
  'given-up-early': [],
  'slot-given-up-early': [],
  'rewritten-without-cause': [],
  'unavailable-without-cause': [],
  // Downloads.
  'link-without-file': [],
  'file-of-nothing': [],
  'file-is-not-its-result': [],
  'other-window': [],
  'rows-of-others': [],
  'gzip-unasked': [],
  'two-versions': [],
  'no-such-version': [],
  'version-with-other-numbers': [],
  'joined-after-its-end': [...BESIDE, 'unlisted lake', 'wrong clock', 'clock is set'],
  'stale-hit': [],
  'emptiness-told-wrongly': [],
  'first-version-missing': QUIET,
  'cache-status-wrong': CALM,
  'version-missing': CALM,
  'gzip-not-given': CALM,
  'answered-late': CALM,
  'asked-too-often': CALM,
  'too-many-calls': CALM,
  'listed-too-often': CALM,
  'log-names-no-query': CALM,
  // Files and publications.
  'file-would-change': [],
  'other-file-name': [],
  'other-encoding': [],
  'publication-failed-without-cause': [],
  'other-file-first': [],
  // Queries.
  'started-without-table': ['unlisted lake'],
  'queried-twice': CALM,
  'retried-again': BESIDE,
  'started-for-nobody': [],
  'too-many-under-way': [],
  'two-slots-of-a-job': BESIDE,
  'slot-changes-its-id': BESIDE,
  'slot-forgets-its-age': BESIDE,
  'asked-at-once': BESIDE,
  'stopped-early': [],
  'attempt-dropped': [],
  'old-token-used': [],
  'attempt-changes': [],
  'good-for-too-long': ['conditional writes meet'],
  'lease-of-another-length': [],
  'taken-over-early': [],
  // Metrics and log.
  'other-duration': [],
  'counted-as-failed': [],
  'counts-nothing': [],
  'counted-twice': [],
  'counted-before-its-end': [],
  'log-and-metrics-differ': [],
  'not-counted': [],
  'no-such-query-in-log': [],
  'secret-in-log': [],
  // Writes, tokens, and the end of a world.
  'unconditional-write': [],
  'written-after-the-answer': [],
  'token-reused': [],
  'abandoned-untold': [],
  'published-without-file': BESIDE,
  'report-not-reached': [],
  'never-ends': [],
} as const satisfies Readonly<Record<string, readonly Trouble[]>>;

export type Rule = keyof typeof EXCUSES;
export const RULES = Object.keys(EXCUSES) as Rule[];

/** Which rules something breaks, of those that it is judged by. It says nothing about a rule that is undefined. */
export type Findings = { readonly [rule in Rule]?: boolean | undefined };

export const judged = (rule: Rule): string => `judged: ${rule}`;

/** Reports each rule that is broken, unless a trouble excuses it, and counts those that are judged. */
export function judge({ troubles, count, violate }: World, findings: Findings, text: () => string): void {
  for (const rule of Object.keys(findings) as Rule[]) {
    const isBroken = findings[rule];
    const excuses: readonly Trouble[] = EXCUSES[rule];
    if (isBroken === undefined || excuses.some((each) => troubles.kinds.has(each))) continue;
    count(judged(rule));
    if (isBroken) violate(rule, text());
  }
}
