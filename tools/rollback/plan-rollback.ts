import type { LiveFunction, PublishedVersion } from '../live-functions.ts';
import { OperatorFault } from '../operator-fault.ts';

/** The fewest characters by which a commit can be named. */
const SHORTEST_NAME = 7;

/** How many commits a fault lists. */
const LISTED = 20;

export interface Move {
  readonly name: string;
  readonly version: number;
}

/** What it takes to have every function at a commit. */
export interface Plan {
  /** The other commits that requests lead to now, the latest first. */
  readonly from: readonly string[];
  /** The functions whose alias leads elsewhere. */
  readonly moves: readonly Move[];
  /** The functions that have no version of the commit. */
  readonly left: readonly string[];
}

/** The commit that an operator names, whole or by its beginning. Throws an OperatorFault that lists those there are. */
export function commitNamed(functions: readonly LiveFunction[], given: string): string {
  const known = commitsOf(functions.flatMap(({ versions }) => versions));
  if (known.includes(given)) return given;
  if (given.length < SHORTEST_NAME)
    throw new OperatorFault(`Name the commit by ${SHORTEST_NAME} characters or more.`);
  const [found, ...others] = known.filter((commit) => commit.startsWith(given));
  if (found !== undefined && others.length === 0) return found;
  throw new OperatorFault(
    [
      found === undefined ? `No function has a version of ${given}. There are:` : `${given} may be:`,
      ...(found === undefined ? known : [found, ...others])
        .slice(0, LISTED)
        .map((commit) => `  ${withDate(functions, commit)}`),
    ].join('\n'),
  );
}

/**
 * The commit before the latest one that is live, in the order in which they were published.
 *
 * @param isTakenBack whether CloudFormation has put back what was there before the last deployment
 */
export function commitBefore(functions: readonly LiveFunction[], isTakenBack = false): string {
  const [latest, ...others] = commitsOf(functions.flatMap(liveVersions));
  if (latest === undefined)
    throw new OperatorFault(
      'Nothing to go back to: no function has the alias by which a release is taken back. Deploy the earlier version ' +
        '(docs/deploy.md, "Roll back").',
    );
  if (isTakenBack && others.length === 0) return latest;
  // A function that is new with the latest commit has nothing before it: the others tell.
  const [before] = commitsOf(
    functions.flatMap(({ versions }) => {
      const last = versions.findLastIndex(({ commit }) => commit === latest);
      return versions.slice(0, Math.max(last, 0)).findLast(({ commit }) => commit !== latest) ?? [];
    }),
  );
  if (before === undefined)
    throw new OperatorFault(
      `Nothing to go back to: ${withDate(functions, latest)} is the first release that has versions. Deploy the ` +
        'earlier version (docs/deploy.md, "Roll back").',
    );
  return before;
}

/** How every function comes to a commit: to its last version of it, with no part of the requests elsewhere. */
export function planRollback(functions: readonly LiveFunction[], to: string): Plan {
  const targets = functions.map((each) => ({
    ...each,
    version: each.versions.findLast(({ commit }) => commit === to)?.number,
  }));
  return {
    from: commitsOf(functions.flatMap(liveVersions)).filter((commit) => commit !== to),
    moves: targets.flatMap(({ name, version, live }) =>
      version === undefined || (live.length === 1 && live[0] === version) ? [] : [{ name, version }],
    ),
    left: targets.filter(({ version }) => version === undefined).map(({ name }) => name),
  };
}

/** A commit with the time at which its last version was published. */
export function withDate(functions: readonly LiveFunction[], commit: string): string {
  const times = functions
    .flatMap(({ versions }) => versions)
    .filter((version) => version.commit === commit)
    .map(({ publishedMs }) => publishedMs);
  return `${commit} (published ${new Date(Math.max(...times)).toISOString().replace(/\.\d+Z$/, 'Z')})`;
}

const liveVersions = ({ versions, live }: LiveFunction): readonly PublishedVersion[] =>
  versions.filter(({ number }) => live.includes(number));

/** Each commit once, the one that was published last first. */
const commitsOf = (versions: readonly PublishedVersion[]): readonly string[] => [
  ...new Set(
    versions.toSorted((one, other) => other.publishedMs - one.publishedMs).map(({ commit }) => commit),
  ),
];
