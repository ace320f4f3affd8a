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

const itsReport: Outcome = {
  status: 303,
  cacheStatus: 'fwd=miss; collapsed',
  isItsReport: true,
  started: [],
  mostUnderWay: 1,
};
const refused = { ...itsReport, cacheStatus: undefined, isItsReport: false };

/** The outcome that is expected when one release goes on from the objects that the other release stored. */
const expected: Readonly<Record<SceneName, Outcome>> = {
  'job record: starting': { ...itsReport, started: ['the token stored'] },
  'job record: under way': itsReport,
  'job record: succeeded': { ...itsReport, cacheStatus: 'hit' },
  'job record: scan limit exceeded': { ...refused, status: 400 },
  'job record: failed': { ...refused, status: 500 },
  'cached report': { ...itsReport, cacheStatus: 'hit' },
  'ticket: waits for a query': { ...itsReport, cacheStatus: 'fwd=miss' },
  'ticket: waits for a slot': { ...itsReport, cacheStatus: 'fwd=miss', started: ['a new token'] },
  publication: itsReport,
  slots: { ...itsReport, cacheStatus: 'fwd=miss', started: ['a new token'] },
  'register record': { ...itsReport, cacheStatus: 'fwd=miss', started: ['a new token'] },
};

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

  it.each(names)(`has every member that it has in release ${lastRelease.version}: %s`, async (scene) => {
    const [was, now] = [storedSample(scene), await workers.run<Sample>({ plays: 'current', scene })];
    expect([...membersOf(was)].filter((member) => !membersOf(now).has(member))).toEqual([]);
  });

  it.runIf(before).each(names)(
    `of this release can be read by release ${lastRelease.version}: %s`,
    async (scene) => {
      const sample = await workers.run<Sample>({ plays: 'current', scene });
      expect(await workers.run<Outcome>({ goesOn: 'before', scene, sample })).toEqual(expected[scene]);
    },
  );
});
