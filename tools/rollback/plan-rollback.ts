import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { LiveFunction, PublishedVersion } from '../live-functions.ts';

/** The fewest characters by which a release can be named. */
const SHORTEST_NAME = 7;

const LISTED_AT_MOST = 20;

/** What a rollback does with one function. */
export interface Step {
  readonly name: string;
  /** The version of the release to go to, and whether the alias must be moved there. */
  readonly version: number;
  readonly isMoved: boolean;
  /** The later versions that are to be marked as taken back, and whether the version itself loses its mark. */
  readonly marked: readonly number[];
  readonly isUnmarked: boolean;
}

/** The steps that bring every function that has a version of one release to that version. */
export interface Plan {
  /** The other releases that aliases lead to now, the latest first. */
  readonly from: readonly string[];
  readonly steps: readonly Step[];
  /** The functions that have no version of the release, and the release that each stays at. */
  readonly left: readonly { readonly name: string; readonly at: string }[];
}

/** Finds the release that an operator names, whole or by its beginning. Throws an OperatorFault if none or many fit. */
export function releaseNamed(functions: readonly LiveFunction[], given: string): string {
  const known = allReleases(functions);
  if (known.includes(given)) return given;
  if (given.length < SHORTEST_NAME)
    throw new OperatorFault(`Name the release by ${SHORTEST_NAME} characters or more.`);
  const fitting = known.filter((release) => release.startsWith(given));
  if (fitting.length === 1) return fitting[0] as string;
  throw fitting.length === 0
    ? listing(`No function has a version of ${given}. There are:`, functions, known)
    : listing(`${given} may be:`, functions, fitting);
}

/** How the last deployment ended: done, put back by CloudFormation, or put back because this command stopped it. */
export type DeploymentEnd = 'done' | 'put-back' | 'stopped';

/**
 * The release to go to if the operator names none: the one that was live before the release that was deployed last. If
 * no function runs that release any more, it has been taken back already. The stage then stays where it is, so that the
 * command can be repeated. If CloudFormation has put a deployment back, the stage goes where the stack is, unless that
 * release was taken back before. Throws an OperatorFault if only the operator can know.
 *
 * @param deployed the version of a function that the stack holds, by the function's name
 */
export function releaseToGoTo(
  functions: readonly LiveFunction[],
  deployed: (name: string) => number | undefined,
  end: DeploymentEnd,
): string {
  const live = liveReleases(functions);
  const [latestLive] = live;
  if (latestLive === undefined)
    throw new OperatorFault(
      'Nothing to go back to: no function has the alias by which a release is taken back. Deploy the earlier version (docs/deploy.md, "Roll back").',
    );
  const inStack = functions.flatMap(({ name, versions }) =>
    versions.filter(({ number }) => number === deployed(name)),
  );
  const [last = latestLive] = releasesOf(inStack);
  // It has been taken back already; or CloudFormation has put back the stack, but not the aliases.
  if (!live.includes(last)) {
    const inOrder = allReleases(functions);
    return inOrder.indexOf(last) < inOrder.indexOf(latestLive) ? latestLive : last;
  }
  if (end === 'done' || inStack.some(({ isTakenBack }) => isTakenBack)) return releaseBefore(functions, last);
  if (end === 'put-back' && live.length === 1)
    throw listing(
      `CloudFormation has put the last deployment back: the stage is where it was before it, at ${last}. Name the release to go to:`,
      functions,
      allReleases(functions),
    );
  return last;
}

/** The latest release before another one that no operator has taken back, by the order of the functions' versions. */
function releaseBefore(functions: readonly LiveFunction[], release: string): string {
  // A release counts as taken back if one function says so: a function that stayed at it has no mark.
  const takenBack = new Set(
    functions.flatMap(({ versions }) =>
      versions.flatMap((version) => (version.isTakenBack ? [version.release] : [])),
    ),
  );
  // A function that is new in the release has no earlier version, so the other functions decide.
  const earlier = functions.flatMap(({ versions }) => {
    const last = versions.findLastIndex((version) => version.release === release);
    return [versions.slice(0, Math.max(last, 0)).filter((version) => version.release !== release)];
  });
  const [before] = releasesOf(
    earlier.flatMap((versions) => versions.findLast((version) => !takenBack.has(version.release)) ?? []),
  );
  if (before !== undefined) return before;
  const [is, refused] = [withDate(functions, release), releasesOf(earlier.flat())];
  if (refused.length === 0)
    throw new OperatorFault(
      `Nothing to go back to: ${is} is the first release that has versions. Deploy the earlier version (docs/deploy.md, "Roll back").`,
    );
  const cure = `Every release before ${is} was itself taken back. To go to one all the same, name it:`;
  throw listing(cure, functions, refused);
}

/**
 * Plans how to bring every function to a release: its alias moves to its last version of the release, and sends all
 * requests there. All later versions are marked as taken back, except those that were never deployed: CloudFormation
 * deletes the versions of a deployment that has failed, which a mark would prevent.
 *
 * @param deployed the version of a function that the stack holds, by the function's name
 */
export function planRollback(
  functions: readonly LiveFunction[],
  to: string,
  deployed: (name: string) => number | undefined,
): Plan {
  const targetOf = ({ versions }: LiveFunction) => versions.findLast(({ release }) => release === to);
  return {
    from: liveReleases(functions).filter((release) => release !== to),
    steps: functions.flatMap((each): Step[] => {
      const { name, versions, live } = each;
      const target = targetOf(each);
      if (!target) return [];
      const marked = versions
        .filter(({ number, isTakenBack }) => number > target.number && !isTakenBack)
        .map(({ number }) => number)
        .filter((number) => number <= (deployed(name) ?? 0) || number === live);
      const isMoved = live !== target.number;
      return [{ name, version: target.number, isMoved, marked, isUnmarked: target.isTakenBack }];
    }),
    left: functions
      .filter((each) => !targetOf(each))
      .map(({ name, versions, live }) => ({
        name,
        at: versions.find(({ number }) => number === live)?.release ?? 'an unknown release',
      })),
  };
}

const listing = (title: string, functions: readonly LiveFunction[], releases: readonly string[]) =>
  new OperatorFault(
    [title, ...releases.slice(0, LISTED_AT_MOST).map((release) => `  ${withDate(functions, release)}`)].join(
      '\n',
    ),
  );

/** A release with the time at which its last version was published, and whether it was taken back. */
export function withDate(functions: readonly LiveFunction[], release: string): string {
  const versions = functions.flatMap(({ versions }) =>
    versions.filter((version) => version.release === release).slice(-1),
  );
  const time = new Date(Math.max(...versions.map(({ publishedMs }) => publishedMs))).toISOString();
  const takenBack = versions.some(({ isTakenBack }) => isTakenBack) ? ', taken back' : '';
  return `${release} (published ${time.replace(/\.\d+Z$/, 'Z')}${takenBack})`;
}

const liveReleases = (functions: readonly LiveFunction[]): readonly string[] =>
  releasesOf(functions.flatMap(({ versions, live }) => versions.filter(({ number }) => number === live)));

const allReleases = (functions: readonly LiveFunction[]): readonly string[] =>
  releasesOf(functions.flatMap(({ versions }) => versions));

/** The releases without repetition, the latest published first. */
const releasesOf = (versions: readonly PublishedVersion[]): readonly string[] => [
  ...new Set(
    versions.toSorted((one, other) => other.publishedMs - one.publishedMs).map(({ release }) => release),
  ),
];
