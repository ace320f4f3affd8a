import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkers, type Workers } from '../worlds/workers.ts';
import type { Outcome } from './go-on.ts';
import type { Sample } from './play-scene.ts';
import { codeOfReleaseBefore, lastRelease } from './release-before.ts';
import { sampleFile } from './samples.ts';
import { type SceneName, scenes } from './scenes.ts';

const root = join(import.meta.dirname, '../..');
const before = codeOfReleaseBefore('what the release before makes of what this one stores');
let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers(1, { current: root, before: before?.folder });
});
afterAll(async () => {
  await workers.end();
  before?.[Symbol.dispose]();
});

/** The other release's records count as absent, so each release starts a query of its own. */
const itsReport: Outcome = {
  status: 303,
  cacheStatus: 'fwd=miss',
  isItsReport: true,
  started: ['a new token'],
  mostUnderWay: 1,
};
const refused = { ...itsReport, cacheStatus: undefined, isItsReport: false };

/** The outcome that is expected when one release goes on from the objects that the other release stored. */
const expected: Readonly<Record<SceneName, Outcome>> = {
  'job record: starting': itsReport,
  'job record: under way': { ...itsReport, mostUnderWay: 2 },
  'job record: succeeded': itsReport,
  'job record: scan limit exceeded': { ...refused, status: 400 },
  'job record: failed': { ...refused, status: 500 },
  'ticket: waits for a query': { ...itsReport, mostUnderWay: 2 },
  'ticket: waits for a slot': itsReport,
  publication: itsReport,
  slots: itsReport,
  'register record': itsReport,
};
/** In that scene, the simulated engine says that the first query may be repeated. */
const expectedOfBefore = {
  ...expected,
  'job record: failed': { ...refused, status: 500, started: ['a new token', 'a new token'] },
} satisfies typeof expected;

const storedSample = (scene: SceneName): Sample =>
  JSON.parse(readFileSync(sampleFile(lastRelease, scene), 'utf8'));

/** The members of a sample's documents at any depth, such as `jobs/ .leaseMs`. */
const membersOf = ({ objects }: Sample): Set<string> =>
  new Set(objects.flatMap(({ key, document }) => pathsIn(document, key.replace(/\/.*/, '/ '))));
const pathsIn = (value: unknown, path: string): string[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : Object.entries(value).flatMap(([name, member]) =>
        pathsIn(member, Array.isArray(value) ? path : `${path}.${name}`),
      );

const names = Object.keys(scenes) as SceneName[];

describe('a stored document', () => {
  it.each(names)(`of release ${lastRelease.version} can be read by this release: %s`, async (scene) => {
    const sample = storedSample(scene);
    expect(await workers.run<Outcome>({ goesOn: 'current', scene, sample })).toEqual(expected[scene]);
  });

  // Records have other names than those of release 1.0.0, and a publication names the record instead of a cached report.
  const own = /^(jobs\/|cached\/|publications\/ \.cachedReport)/;
  it.each(names)(`has every member that it has in release ${lastRelease.version}: %s`, async (scene) => {
    const [was, now] = [storedSample(scene), await workers.run<Sample>({ plays: 'current', scene })];
    const lost = [...membersOf(was)].filter((member) => !membersOf(now).has(member) && !own.test(member));
    expect(lost).toEqual([]);
  });

  it.runIf(before).each(names)(
    `of this release can be read by release ${lastRelease.version}: %s`,
    async (scene) => {
      const sample = await workers.run<Sample>({ plays: 'current', scene });
      expect(await workers.run<Outcome>({ goesOn: 'before', scene, sample })).toEqual(
        expectedOfBefore[scene],
      );
    },
  );
});
