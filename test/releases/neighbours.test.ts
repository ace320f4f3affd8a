import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkers, type Workers } from '../worlds/workers.ts';
import type { Outcome } from './go-on.ts';
import type { Sample } from './play-scene.ts';
import { lastRelease } from './release-before.ts';
import { type SceneName, sampleFile, scenes } from './scenes.ts';

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers(1, { current: join(import.meta.dirname, '../..') });
});
afterAll(() => workers.end());

/** The answers to requests that go on from a sample which holds the outcome of a query. All others get their report. */
const OTHERS: Partial<Record<SceneName, number>> = {
  'job record: scan limit exceeded': 400,
  'job record: failed': 500,
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

// What both releases make of each other's documents while both run is seen in test/worlds.
describe('a stored document', () => {
  it.each(names)(`of release ${lastRelease.version} can be read by this release: %s`, async (scene) => {
    const outcome = await workers.run<Outcome>({ goesOn: 'current', scene, sample: storedSample(scene) });
    const status = OTHERS[scene];
    expect(outcome).toEqual({ status: status ?? 303, isItsReport: !status });
  });

  // Records have other names than those of release 1.0.0, and a publication names the record instead of a cached report.
  const own = /^(jobs\/|cached\/|publications\/ \.cachedReport)/;
  it.each(names)(`has every member that it has in release ${lastRelease.version}: %s`, async (scene) => {
    const [was, now] = [storedSample(scene), await workers.run<Sample>({ plays: 'current', scene })];
    const lost = [...membersOf(was)].filter((member) => !membersOf(now).has(member) && !own.test(member));
    expect(lost).toEqual([]);
  });
});
