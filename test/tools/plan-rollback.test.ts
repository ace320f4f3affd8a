import { describe, expect, it } from 'vitest';
import type { LiveFunction } from '../../tools/live-functions.ts';
import { commitBefore, commitNamed, planRollback } from '../../tools/rollback/plan-rollback.ts';

const commit = (letter: string) => letter.repeat(12);

/**
 * A function by its releases: a letter is the commit of one, in the order of time, and `_` a release without the function.
 * `live` has the letter of the alias's version (its last one), then those of the versions with a part of the requests.
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

describe('commitBefore', () => {
  it.each<[string, Record<string, string>, string, boolean?]>([
    ['of a release that all functions have', { report: 'ab b', page: 'ab b' }, 'a'],
    ['of a release that is shifting', { report: 'ab ab', page: 'ab b' }, 'a'],
    ['where a command was killed midway', { report: 'zab a', page: 'zab b' }, 'a'],
    ['of a release that was published twice', { report: 'abb b' }, 'a'],
    ['of a release that was published, taken back and published again', { report: 'bab b' }, 'a'],
    ['of a release with a new function', { report: 'ab b', added: '_b b' }, 'a'],
    ['where only a new function is still at the release', { report: 'zab a', added: '__b b' }, 'a'],
    ['of a release that was itself gone back to', { report: 'zab a', page: 'zab a' }, 'z'],
    ['of what a deployment under way was to replace', { report: 'zab b', page: 'zab b' }, 'b', true],
    ['where CloudFormation has put back a part', { report: 'zab a', page: 'zab b' }, 'a', true],
  ])('is the one %s', (_, functions, before, isTakenBack) => {
    expect(commitBefore(functionsOf(functions), isTakenBack)).toBe(commit(before));
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['no function has an alias', {}, /^Nothing to go back to: no function has the alias.*docs\/deploy\.md/],
    [
      'there is one release',
      { report: 'a a', page: 'aa a' },
      /^Nothing to go back to: a{12} \(published 2026-01-02T00:00:00Z\) is the first release/,
    ],
  ])('is none where %s, and the fault says what to do', (_, functions, message) => {
    expect(() => commitBefore(functionsOf(functions))).toThrow(message);
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
    ['its whole name, which another begins with', 'feed123', 'feed123'],
    ['its whole name, which is short', 'v2', 'v2'],
  ])('is found by %s', (_, given, commit) => {
    expect(commitNamed(functions, given)).toBe(commit);
  });

  it.each([
    ['a short beginning', 'abc1', 'Name the commit by 7 characters or more.'],
    [
      'a beginning of two',
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
  ])('is a fault for %s', (_, given, message) => {
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
      'takes away the part of the requests that goes elsewhere',
      { report: 'ab ab' },
      { from: [commit('b')], moves: [{ name: 'report', version: 1 }], left: [] },
    ],
    [
      'moves the rest where a command was killed midway',
      { report: 'ab a', page: 'ab b' },
      { from: [commit('b')], moves: [{ name: 'page', version: 1 }], left: [] },
    ],
    [
      'leaves a function that has no version of the commit',
      { report: 'ab b', added: '_b b' },
      { from: [commit('b')], moves: [{ name: 'report', version: 1 }], left: ['added'] },
    ],
    ['does nothing where all is there', { report: 'ab a' }, { from: [], moves: [], left: [] }],
  ])('%s', (_, functions, plan) => {
    expect(planRollback(functionsOf(functions), commit('a'))).toEqual(plan);
  });
});
