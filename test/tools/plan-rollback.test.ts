import { describe, expect, it } from 'vitest';
import type { LiveFunction } from '../../tools/live-functions.ts';
import {
  commitNamed,
  commitToGoTo,
  type DeploymentEnd,
  planRollback,
} from '../../tools/rollback/plan-rollback.ts';

const commit = (letter: string) => letter.repeat(12);

/**
 * A function with these releases, in the order of time: a letter is a release's commit, and `_` is a release without
 * the function. The first letter of `live` is the commit of the alias's version (the last version of that commit); the
 * other letters are the commits of versions that get a part of the requests.
 */
function made(name: string, releases: string, live: string): LiveFunction {
  const versions = [...releases]
    .map((letter, at) => ({ commit: commit(letter), publishedMs: Date.UTC(2026, 0, 1 + at) }))
    .filter(({ commit }) => !commit.startsWith('_'))
    .map((version, index) => ({ number: index + 1, ...version }));
  const last = (letter: string) => versions.findLast((version) => version.commit === commit(letter))?.number;
  return { name, versions, live: [...live].map((letter) => last(letter) ?? Number.NaN) };
}

/** Functions by their names, each as `<releases> <live>`. */
const functionsOf = (entries: Readonly<Record<string, string>>) =>
  Object.entries(entries).map(([name, entry]) => made(name, ...(entry.split(' ') as [string, string])));

describe('commitToGoTo', () => {
  /** The commit to go to, if the stack has each function's last version of the commit `deployed`. */
  const goTo = (entries: Record<string, string>, deployed: string, end: DeploymentEnd = 'done') => {
    const functions = functionsOf(entries);
    const versionOf = (name: string) =>
      functions
        .find((each) => each.name === name)
        ?.versions.findLast((version) => version.commit === commit(deployed))?.number;
    return commitToGoTo(functions, versionOf, end);
  };

  it.each<[string, Record<string, string>, string, string, DeploymentEnd?]>([
    ['the commit before a release that all functions have', { report: 'ab b', page: 'ab b' }, 'b', 'a'],
    [
      'the commit before a release that gets a part of the requests',
      { report: 'ab ab', page: 'ab b' },
      'b',
      'a',
    ],
    [
      'the commit before the release if a command was killed midway',
      { report: 'zab a', page: 'zab b' },
      'b',
      'a',
    ],
    [
      'the commit before the release if a command was killed after it had moved all functions',
      { report: 'zab a', page: 'zab a' },
      'b',
      'a',
    ],
    ['the commit before a release that was published twice', { report: 'abb b' }, 'b', 'a'],
    [
      'the commit before a release that was published, rolled back and published again',
      { report: 'bab b' },
      'b',
      'a',
    ],
    ['the commit before a release with a new function', { report: 'ab b', added: '_b b' }, 'b', 'a'],
    [
      'the commit before the release if only a new function is still at the release',
      { report: 'zab a', added: '__b b' },
      'b',
      'a',
    ],
    ['the commit that a stopped deployment would have replaced', { report: 'zab b' }, 'b', 'b', 'stopped'],
    [
      'the commit of the stack if a stopped deployment has put back only some functions',
      { report: 'zab a', page: 'zab b' },
      'a',
      'a',
      'stopped',
    ],
    [
      'the commit to which a release was rolled back before a deployment failed',
      { report: 'abc a' },
      'b',
      'a',
      'put-back',
    ],
  ])('returns %s', (_, functions, deployed, to, end) => {
    expect(goTo(functions, deployed, end)).toBe(commit(to));
  });

  it.each<[string, Record<string, string>, RegExp, DeploymentEnd?]>([
    ['no function has an alias', {}, /^Nothing to go back to: no function has the alias.*docs\/deploy\.md/],
    [
      'there is only one release',
      { report: 'a a', page: 'aa a' },
      /^Nothing to go back to: a{12} \(published 2026-01-02T00:00:00Z\) is the first release/,
    ],
    [
      'the last deployment was put back some time ago',
      { report: 'za a' },
      /^CloudFormation has put the last deployment back: .* at a{12}\. Name the commit to go to:\n {2}a{12} .*\n {2}z{12} /,
      'put-back',
    ],
  ])('throws a fault that says what to do, if %s', (_, functions, message, end) => {
    expect(() => goTo(functions, 'a', end)).toThrow(message);
  });
});

describe('commitNamed', () => {
  const functions = ['abc1234aaaaa', 'abc1234bbbbb', 'feed123', 'feed123-anew', 'v2'].map(
    (commit, index) => ({
      name: commit,
      versions: [{ number: 1, commit, publishedMs: Date.UTC(2026, 0, 1 + index) }],
      live: [1],
    }),
  );

  it.each([
    ['its beginning', 'abc1234a', 'abc1234aaaaa'],
    ['its whole name, although another name begins with it', 'feed123', 'feed123'],
    ['its whole name, although it is short', 'v2', 'v2'],
  ])('finds a commit by %s', (_, given, commit) => {
    expect(commitNamed(functions, given)).toBe(commit);
  });

  it.each([
    ['a beginning that is too short', 'abc1', 'Name the commit by 7 characters or more.'],
    [
      'the beginning of two commits',
      'abc1234',
      'abc1234 may be:\n  abc1234bbbbb (published 2026-01-02T00:00:00Z)\n  abc1234aaaaa (published 2026-01-01T00:00:00Z)',
    ],
    [
      'a commit without versions',
      'dddddddd',
      'No function has a version of dddddddd. There are:\n  v2 (published 2026-01-05T00:00:00Z)\n' +
        '  feed123-anew (published 2026-01-04T00:00:00Z)\n  feed123 (published 2026-01-03T00:00:00Z)\n' +
        '  abc1234bbbbb (published 2026-01-02T00:00:00Z)\n  abc1234aaaaa (published 2026-01-01T00:00:00Z)',
    ],
  ])('throws a fault for %s', (_, given, message) => {
    expect(() => commitNamed(functions, given)).toThrow(message);
  });
});

describe('planRollback', () => {
  it.each<[string, Record<string, string>, object]>([
    [
      'moves every function to its last version of the commit',
      { report: 'aab b', page: 'ab b' },
      {
        from: [commit('b')],
        moves: [
          { name: 'report', version: 2 },
          { name: 'page', version: 1 },
        ],
        left: [],
      },
    ],
    [
      'removes the share of requests that another version gets',
      { report: 'ab ab' },
      { from: [commit('b')], moves: [{ name: 'report', version: 1 }], left: [] },
    ],
    [
      'moves the remaining functions after a command was killed midway',
      { report: 'ab a', page: 'ab b' },
      { from: [commit('b')], moves: [{ name: 'page', version: 1 }], left: [] },
    ],
    [
      'leaves a function that has no version of the commit',
      { report: 'ab b', added: '_b b' },
      { from: [commit('b')], moves: [{ name: 'report', version: 1 }], left: ['added'] },
    ],
    [
      'moves nothing if every function is at the commit',
      { report: 'ab a' },
      { from: [], moves: [], left: [] },
    ],
  ])('%s', (_, functions, plan) => {
    expect(planRollback(functionsOf(functions), commit('a'))).toEqual(plan);
  });
});
