import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkers, type Workers } from '../worlds/workers.ts';
import type { Outcome, Sample } from './play-scene.ts';
import { codeOfReleaseBefore, lastRelease } from './release-before.ts';
import { type SceneName, sampleFile, scenes } from './scenes.ts';

const before = codeOfReleaseBefore('what the release before makes of a record that this one writes');
let workers: Workers;
beforeAll(async () => {
  const current = join(import.meta.dirname, '../..');
  workers = await startWorkers(1, { current, before: before?.folder });
});
afterAll(async () => {
  await workers.end();
  before?.[Symbol.dispose]();
});

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

// What the release before makes of this one's other documents is seen in test/worlds, where both run.
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

  it.runIf(before)(`of this release can be read by release ${lastRelease.version}: a record`, async () => {
    const scene = 'register record';
    const sample = await workers.run<Sample>({ plays: 'current', scene });
    const outcome = await workers.run<Outcome>({ goesOn: 'before', scene, sample });
    expect(outcome).toEqual({ status: 303, isItsReport: true });
  });
});
