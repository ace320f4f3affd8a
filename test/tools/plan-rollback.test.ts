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
 * Functions, one after the other, each as `<releases> <live>`, in the order of time: a letter is a release, a capital
 * letter a release that was taken back, and `_` a release without the function. The alias leads to the last version of
 * the release `live`.
 */
const functionsOf = (entries: string): LiveFunction[] =>
  entries.split(', ').map((entry, index) => {
    const [releases = '', live = ''] = entry.split(' ');
    const versions = [...releases]
      .map((letter, at) => ({ letter, publishedMs: Date.UTC(2026, 0, 1 + at) }))
      .filter(({ letter }) => letter !== '_')
      .map(({ letter, publishedMs }, index) => ({
        number: index + 1,
        release: named(letter),
        publishedMs,
        isTakenBack: letter !== letter.toLowerCase(),
      }));
    const last = versions.findLast(({ release }) => release === named(live))?.number;
    return { name: `f${index}`, versions, live: last ?? Number.NaN };
  });

/** Each function's last version of a release, which the stack holds. */
const holding = (functions: readonly LiveFunction[], letter: string) => (name: string) =>
  functions.find((each) => each.name === name)?.versions.findLast(({ release }) => release === named(letter))
    ?.number;

describe('releaseToGoTo', () => {
  const goTo = (entries: string, deployed: string, end: DeploymentEnd) => {
    const functions = functionsOf(entries);
    return releaseToGoTo(functions, holding(functions, deployed), end);
  };

  it.each<[string, string, string, string, DeploymentEnd?]>([
    ['before a release that all functions have', 'ab b, ab b', 'b', 'a'],
    ['before the release after a command was killed', 'zaB a, zab b', 'b', 'a'],
    ['that is live if the release was taken back already', 'zaB a, zaB a', 'b', 'a'],
    ['before a release that was published twice', 'abb b', 'b', 'a'],
    ['before a release that was published again after a rollback', 'baB b', 'b', 'a'],
    ['before a release with a new function', 'ab b, _b b', 'b', 'a'],
    ['before the release if only a new function is at it', 'zaB a, __b b', 'b', 'a'],
    ['that was live before, not one that was taken back', 'aBc c, aBc c', 'c', 'a'],
    ['that was live before, past two that were taken back', 'aBCd d', 'd', 'a'],
    ['before a release that was taken back and named again', 'aBc b', 'b', 'a'],
    ['that a stopped deployment would have replaced', 'zab b', 'b', 'b', 'stopped'],
    ['of the stack if only some functions are back', 'zab a, zab b', 'a', 'a', 'stopped'],
    ['of the stack if the put-back left out some functions', 'ab b, ab a', 'a', 'a', 'put-back'],
    ['of the stack if the put-back left out all functions', 'ab b', 'a', 'a', 'put-back'],
    ['to which the stack’s release was taken back before', 'aBc a', 'b', 'a', 'put-back'],
    ['before the stack’s, which was taken back before a failure', 'aB b', 'b', 'a', 'put-back'],
    ['before the stack’s, which was taken back before a stop', 'aB b', 'b', 'a', 'stopped'],
  ])('returns the release %s', (_, functions, deployed, to, end = 'done') => {
    expect(goTo(functions, deployed, end)).toBe(named(to));
  });

  const PUT_BACK = /^CloudFormation has put .* at a{12}\..*:\n {2}a{12} .*\n {2}z/;
  it.each<[string, string, RegExp, DeploymentEnd?]>([
    ['no function has an alias', ' x', /^Nothing to go back to: no function has the alias.*docs\/deploy\.md/],
    ['one release', 'a a, aa a', /^Nothing to go back to: a{12} \(published 2026-01-02T00:00:00Z\) is/],
    ['all went back', 'ZYa a', /^Every release before a{12} .*name it:\n {2}y{12} \(.*, taken back\)\n {2}z/],
    ['the last was put back', 'za a', PUT_BACK, 'put-back'],
  ])('throws a fault that says what to do, if %s', (_, functions, message, end = 'done') => {
    expect(() => goTo(functions, 'a', end)).toThrow(message);
  });
});

describe('releaseNamed', () => {
  const functions = ['abc1234aaaaa-111111', 'abc1234aaaaa-222222', 'feed123', 'feed123-anew', 'v2'].map(
    (release, index) => ({
      name: release,
      versions: [{ number: 1, release, publishedMs: Date.UTC(2026, 0, 1 + index), isTakenBack: index === 1 }],
      live: 1,
    }),
  );
  const one = '  abc1234aaaaa-111111 (published 2026-01-01T00:00:00Z)';
  const other = '  abc1234aaaaa-222222 (published 2026-01-02T00:00:00Z, taken back)';

  it.each([
    ['its beginning', 'abc1234aaaaa-1', 'abc1234aaaaa-111111'],
    ['its whole name, although another name begins with it', 'feed123', 'feed123'],
    ['its whole name, although it is short', 'v2', 'v2'],
  ])('finds a release by %s', (_, given, release) => {
    expect(releaseNamed(functions, given)).toBe(release);
  });

  it.each([
    ['a beginning that is too short', 'abc1', 'Name the release by 7 characters or more.'],
    ['a commit with two releases', 'abc1234', `abc1234 may be:\n${other}\n${one}`],
    ['no versions', 'dddddddd', 'No function has a version of dddddddd. There are:\n  v2 (publ'],
  ])('throws a fault for %s', (_, given, message) => {
    expect(() => releaseNamed(functions, given)).toThrow(message);
  });
});

describe('planRollback', () => {
  /** The releases that are left and, for each function, its version and what is done: `b: 1 moved, marks 2 4; left`. */
  const planned = (entries: string, deployed: string) => {
    const functions = functionsOf(entries);
    const { from, steps, left } = planRollback(functions, named('a'), holding(functions, deployed));
    const told = steps.map(({ version, isMoved, marked, isUnmarked }) =>
      [
        `${version}${isMoved ? ' moved' : ''}`,
        ...(marked.length > 0 ? [`marks ${marked.join(' ')}`] : []),
        ...(isUnmarked ? ['no mark'] : []),
      ].join(', '),
    );
    return `${from.map((release) => release[0])}: ${[...told, ...left.map(() => 'left')].join('; ')}`;
  };

  it.each([
    ['moves functions to their last version', 'aab b, ab b', 'b', 'b: 2 moved, marks 3; 1 moved, marks 2'],
    ['does what a killed command left', 'aB a, ab b, ab a', 'b', 'b: 1; 1 moved, marks 2; 1, marks 2'],
    ['marks all releases that it passes over', 'abCd d', 'd', 'd: 1 moved, marks 2 4'],
    ['takes the mark away from the release to which it goes', 'zA z', 'a', 'z: 2 moved, no mark'],
    ['marks no version that CloudFormation deletes after a failure', 'abc b', 'b', 'b: 1 moved, marks 2'],
    ['marks a version of a failed deployment if it is live', 'abc c', 'b', 'c: 1 moved, marks 2 3'],
    ['leaves a function without a version of the release', 'ab b, _b b', 'b', 'b: 1 moved, marks 2; left'],
  ])('%s', (_, entries, deployed, plan) => {
    expect(planned(entries, deployed)).toBe(plan);
  });
});
