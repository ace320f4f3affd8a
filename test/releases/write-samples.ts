/**
 * Lets a release's own code write the sample of each scene, and records that release in `last-release.json`.
 *
 *     npm run samples                    writes the samples of the last release again
 *     npm run samples -- 1.1.0 [commit]  after release 1.1.0, writes the samples of its commit (by default, of HEAD)
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWorkers } from '../worlds/workers.ts';
import type { Sample } from './play-scene.ts';
import { codeOf, git, LAST_RELEASE_FILE, lastRelease, type Release } from './release-before.ts';
import { type SceneName, sampleFile, scenes } from './scenes.ts';

const [version, commit = 'HEAD'] = process.argv.slice(2);
const release: Release = version
  ? { version, commit: git('rev-parse', '--verify', `${commit}^{commit}`).toString().trim() }
  : lastRelease;

using code = codeOf(release.commit);
const workers = await startWorkers(1, { current: code.folder });
rmSync(join(import.meta.dirname, lastRelease.version), { recursive: true, force: true });
mkdirSync(join(import.meta.dirname, release.version));
for (const scene of Object.keys(scenes) as SceneName[]) {
  const sample = await workers.run<Sample>({ plays: 'current', scene });
  writeFileSync(sampleFile(release, scene), `${JSON.stringify(sample, null, 2)}\n`);
}
await workers.end();
writeFileSync(LAST_RELEASE_FILE, `${JSON.stringify(release, null, 2)}\n`);
process.stdout.write(`${Object.keys(scenes).length} samples of ${release.version}, ${release.commit}\n`);
