import { join } from 'node:path';
import type { Release } from './release-before.ts';
import type { SceneName } from './scenes.ts';

/** Path of a scene's sample, for example `1.0.0/job-record-under-way.json`. */
export const sampleFile = ({ version }: Release, scene: SceneName): string =>
  join(import.meta.dirname, version, `${scene.replaceAll(/:? /g, '-')}.json`);
