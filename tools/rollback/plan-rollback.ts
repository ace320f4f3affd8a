import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { LiveFunction, PublishedVersion } from '../live-functions.ts';

/** The fewest characters by which a commit can be named. */
const SHORTEST_NAME = 7;

/** How many commits a fault lists at most. */
const LISTED = 20;

export interface Move {
  readonly name: string;
  readonly version: number;
}

/** The steps that bring every function that has a version of one commit to that version. */
export interface Plan {
  /** The other commits that aliases lead to now, the latest first. */
  readonly from: readonly string[];
  /** The functions whose alias must move, with the version that it moves to. */
  readonly moves: readonly Move[];
  /** The functions that have no version of the commit. */
  readonly left: readonly string[];
}

/** Finds the commit that an operator names, whole or by its beginning. Throws an OperatorFault if none or many fit. */
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
      ...listed(functions, found === undefined ? known : [found, ...others]),
    ].join('\n'),
  );
}

/** How the last deployment ended: done, put back by CloudFormation, or put back because this command stopped it. */
export type DeploymentEnd = 'done' | 'put-back' | 'stopped';

/**
 * The commit to go to if the operator names none: the commit before the release that was deployed last. If no
 * function runs that release any more, it has been taken back already. The stage then stays at its latest live
 * commit, so that the command can be repeated. If this command has stopped the deployment, the stage goes to the commit
 * that the stack holds. Throws an OperatorFault if CloudFormation has put the last deployment back, or if there is no
 * earlier commit.
 *
 * @param deployed the version of a function that the stack holds, by the function's name
 */
export function commitToGoTo(
  functions: readonly LiveFunction[],
  deployed: (name: string) => number | undefined,
  end: DeploymentEnd,
): string {
  const [latestLive] = commitsOf(functions.flatMap(liveVersions));
  if (latestLive === undefined)
    throw new OperatorFault(
      'Nothing to go back to: no function has the alias by which a release is taken back. Deploy the earlier version ' +
        '(docs/deploy.md, "Roll back").',
    );
  const [last = latestLive] = commitsOf(
    functions.flatMap(({ name, versions }) => versions.filter(({ number }) => number === deployed(name))),
  );
  if (end === 'stopped') return last;
  if (!functions.flatMap(liveVersions).some(({ commit }) => commit === last)) return latestLive;
  if (end === 'put-back')
    throw new OperatorFault(
      [
        `CloudFormation has put the last deployment back: the stage is where it was before it, at ${last}. Name the commit to go to:`,
        ...listed(functions, commitsOf(functions.flatMap(({ versions }) => versions))),
      ].join('\n'),
    );
  return commitBefore(functions, last);
}

/** The latest commit that the functions ran before a release, by the order of their versions. */
function commitBefore(functions: readonly LiveFunction[], release: string): string {
  // A function that is new in the release has no earlier version, so the other functions decide.
  const [before] = commitsOf(
    functions.flatMap(({ versions }) => {
      const last = versions.findLastIndex(({ commit }) => commit === release);
      return versions.slice(0, Math.max(last, 0)).findLast(({ commit }) => commit !== release) ?? [];
    }),
  );
  if (before === undefined)
    throw new OperatorFault(
      `Nothing to go back to: ${withDate(functions, release)} is the first release that has versions. Deploy the ` +
        'earlier version (docs/deploy.md, "Roll back").',
    );
  return before;
}

/**
 * Plans how to bring every function to a commit. A function's alias moves to its last version of the commit, and sends
 * all requests there.
 */
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

const listed = (functions: readonly LiveFunction[], commits: readonly string[]): string[] =>
  commits.slice(0, LISTED).map((commit) => `  ${withDate(functions, commit)}`);

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

/** The commits without repetition, the latest published first. */
const commitsOf = (versions: readonly PublishedVersion[]): readonly string[] => [
  ...new Set(
    versions.toSorted((one, other) => other.publishedMs - one.publishedMs).map(({ commit }) => commit),
  ),
];
