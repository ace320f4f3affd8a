import { describe, expect, it } from 'vitest';
import type { LiveFunction } from '../../tools/live-functions.ts';
import {
  type DeploymentEnd,
  planRollback,
  releaseNamed,
  releaseToGoTo,
} from '../../tools/rollback/plan-rollback.ts';

const named = (letter: string) => letter.toLowerCase().repeat(12);

/**
 * A function with these releases, in the order of time: a letter is a release, a capital letter a release that was taken
 * back, and `_` a release without the function. The first letter of `live` is the release of the alias's version (the
 * last version of that release); the other letters are the releases of versions that get a part of the requests.
 */
function made(name: string, releases: string, live: string): LiveFunction {
  const versions = [...releases]
    .map((letter, at) => ({ letter, publishedMs: Date.UTC(2026, 0, 1 + at) }))
    .filter(({ letter }) => letter !== '_')
    .map(({ letter, publishedMs }, index) => ({
      number: index + 1,
      release: named(letter),
      publishedMs,
      isTakenBack: letter !== letter.toLowerCase(),
    }));
  const last = (letter: string) => versions.findLast(({ release }) => release === named(letter))?.number;
  return { name, versions, live: [...live].map((letter) => last(letter) ?? Number.NaN) };
}

/** Functions by their names, each as `<releases> <live>`. */
const functionsOf = (entries: Readonly<Record<string, string>>) =>
  Object.entries(entries).map(([name, entry]) => made(name, ...(entry.split(' ') as [string, string])));

/** Each function's last version of a release, which the stack holds. */
const holding = (functions: readonly LiveFunction[], letter: string) => (name: string) =>
  functions.find((each) => each.name === name)?.versions.findLast(({ release }) => release === named(letter))
    ?.number;

describe('releaseToGoTo', () => {
  const goTo = (entries: Record<string, string>, deployed: string, end: DeploymentEnd = 'done') => {
    const functions = functionsOf(entries);
    return releaseToGoTo(functions, holding(functions, deployed), end);
  };

  it.each<[string, Record<string, string>, string, string, DeploymentEnd?]>([
    ['before a release that all functions have', { report: 'ab b', page: 'ab b' }, 'b', 'a'],
    ['before a release that gets a part of the requests', { report: 'ab ab', page: 'ab b' }, 'b', 'a'],
    ['before the release if a command was killed midway', { report: 'zaB a', page: 'zab b' }, 'b', 'a'],
    ['that is live if the release was taken back already', { report: 'zaB a', page: 'zaB a' }, 'b', 'a'],
    ['before a release that was published twice', { report: 'abb b' }, 'b', 'a'],
    ['before a release that was published again after a rollback', { report: 'baB b' }, 'b', 'a'],
    ['before a release with a new function', { report: 'ab b', added: '_b b' }, 'b', 'a'],
    ['before the release if only a new function is at it', { report: 'zaB a', added: '__b b' }, 'b', 'a'],
    ['that was live before, not one that was taken back', { report: 'aBc c', page: 'aBc c' }, 'c', 'a'],
    ['that was live before, past two that were taken back', { report: 'aBCd d' }, 'd', 'a'],
    ['before it, although it was named after it was taken back', { report: 'aBc b' }, 'b', 'a'],
    ['that a stopped deployment would have replaced', { report: 'zab b' }, 'b', 'b', 'stopped'],
    ['of the stack if only some functions are back', { report: 'zab a', page: 'zab b' }, 'a', 'a', 'stopped'],
    [
      'of the stack if the put-back left out some functions',
      { report: 'ab b', page: 'ab a' },
      'a',
      'a',
      'put-back',
    ],
    ['of the stack if the put-back left out all functions', { report: 'ab b' }, 'a', 'a', 'put-back'],
    ['to which the stack’s release was taken back before', { report: 'aBc a' }, 'b', 'a', 'put-back'],
    ['before the stack’s, which was taken back before a failure', { report: 'aB b' }, 'b', 'a', 'put-back'],
    ['before the stack’s, which was taken back before a stop', { report: 'aB b' }, 'b', 'a', 'stopped'],
  ])('returns the release %s', (_, functions, deployed, to, end) => {
    expect(goTo(functions, deployed, end)).toBe(named(to));
  });

  it.each<[string, Record<string, string>, RegExp, DeploymentEnd?]>([
    ['no function has an alias', {}, /^Nothing to go back to: no function has the alias.*docs\/deploy\.md/],
    [
      'there is only one release',
      { report: 'a a', page: 'aa a' },
      /^Nothing to go back to: a{12} \(published 2026-01-02T00:00:00Z\) is the first release/,
    ],
    [
      'all earlier releases were taken back',
      { report: 'ZYa a' },
      /^Every release before a{12} .* was itself taken back\. .* name it:\n {2}y{12} \(.*, taken back\)\n {2}z{12} /,
    ],
    [
      'the last deployment was put back some time ago',
      { report: 'za a' },
      /^CloudFormation has put the last deployment back: .* at a{12}\. Name the release to go to:\n {2}a{12} .*\n {2}z{12} /,
      'put-back',
    ],
  ])('throws a fault that says what to do, if %s', (_, functions, message, end) => {
    expect(() => goTo(functions, 'a', end)).toThrow(message);
  });
});

describe('releaseNamed', () => {
  const functions = ['abc1234aaaaa-111111', 'abc1234aaaaa-222222', 'feed123', 'feed123-anew', 'v2'].map(
    (release, index) => ({
      name: release,
      versions: [{ number: 1, release, publishedMs: Date.UTC(2026, 0, 1 + index), isTakenBack: index === 1 }],
      live: [1],
    }),
  );

  it.each([
    ['its beginning', 'abc1234aaaaa-1', 'abc1234aaaaa-111111'],
    ['its whole name, although another name begins with it', 'feed123', 'feed123'],
    ['its whole name, although it is short', 'v2', 'v2'],
  ])('finds a release by %s', (_, given, release) => {
    expect(releaseNamed(functions, given)).toBe(release);
  });

  it.each([
    ['a beginning that is too short', 'abc1', 'Name the release by 7 characters or more.'],
    [
      'a commit with two releases, which differ in their settings',
      'abc1234',
      'abc1234 may be:\n  abc1234aaaaa-222222 (published 2026-01-02T00:00:00Z, taken back)\n' +
        '  abc1234aaaaa-111111 (published 2026-01-01T00:00:00Z)',
    ],
    [
      'a release without versions',
      'dddddddd',
      'No function has a version of dddddddd. There are:\n  v2 (published 2026-01-05T00:00:00Z)\n' +
        '  feed123-anew (published 2026-01-04T00:00:00Z)\n  feed123 (published 2026-01-03T00:00:00Z)\n' +
        '  abc1234aaaaa-222222 (published 2026-01-02T00:00:00Z, taken back)\n' +
        '  abc1234aaaaa-111111 (published 2026-01-01T00:00:00Z)',
    ],
  ])('throws a fault for %s', (_, given, message) => {
    expect(() => releaseNamed(functions, given)).toThrow(message);
  });
});

describe('planRollback', () => {
  const step = (name: string, version: number, more = {}) => ({
    name,
    version,
    isMoved: true,
    marked: [version + 1],
    isUnmarked: false,
    ...more,
  });

  it.each<[string, Record<string, string>, string, object]>([
    [
      'moves every function to its last version of the release, and marks the later ones',
      { report: 'aab b', page: 'ab b' },
      'b',
      { from: [named('b')], steps: [step('report', 2), step('page', 1)], left: [] },
    ],
    [
      'removes the share of requests that another version gets',
      { report: 'ab ab' },
      'b',
      { from: [named('b')], steps: [step('report', 1)], left: [] },
    ],
    [
      'does the rest after a command was killed midway',
      { report: 'aB a', page: 'ab b', fields: 'ab a' },
      'b',
      {
        from: [named('b')],
        steps: [
          step('report', 1, { isMoved: false, marked: [] }),
          step('page', 1),
          step('fields', 1, { isMoved: false }),
        ],
        left: [],
      },
    ],
    [
      'marks all releases that it passes over',
      { report: 'abCd d' },
      'd',
      { from: [named('d')], steps: [step('report', 1, { marked: [2, 4] })], left: [] },
    ],
    [
      'takes the mark away from the release to which it goes',
      { report: 'zA z' },
      'a',
      { from: [named('z')], steps: [step('report', 2, { marked: [], isUnmarked: true })], left: [] },
    ],
    [
      'marks no version of a deployment that has failed, because CloudFormation deletes it',
      { report: 'abc b' },
      'b',
      { from: [named('b')], steps: [step('report', 1)], left: [] },
    ],
    [
      'marks a version of a failed deployment if it is live',
      { report: 'abc c' },
      'b',
      { from: [named('c')], steps: [step('report', 1, { marked: [2, 3] })], left: [] },
    ],
    [
      'leaves a function that has no version of the release',
      { report: 'ab b', added: '_b b' },
      'b',
      { from: [named('b')], steps: [step('report', 1)], left: ['added'] },
    ],
  ])('%s', (_, entries, deployed, plan) => {
    const functions = functionsOf(entries);
    expect(planRollback(functions, named('a'), holding(functions, deployed))).toEqual(plan);
  });
});
