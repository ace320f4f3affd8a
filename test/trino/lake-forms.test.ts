import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OpenedEngine } from '../../local/athena/query-engine.ts';
import { compareLakes, makeThreeLakes, type ThreeLakes } from '../tools/three-lakes.ts';
import { trinoOver } from './trino-tables.ts';

let directory: string;
let lakes: ThreeLakes;
const engines: Record<string, OpenedEngine> = {};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lake-forms-trino-'));
  lakes = await makeThreeLakes(directory);
  for (const [name, folder] of Object.entries(lakes.folders))
    engines[name] = await trinoOver(
      String(process.env['TEST_TRINO_URL']),
      folder,
    )({ database: 'lake', scratchDirectory: join(directory, `scratch-${name}`) });
});
afterAll(async () => {
  for (const engine of Object.values(engines)) engine.close();
  await rm(directory, { recursive: true });
});

it('a raw, a sorted and an hourly lake give the same bytes for 300 reports with windows of whole hours', async () => {
  const { requests, withRows, differences } = await compareLakes(engines, lakes.events);
  process.stdout.write(
    `${requests} requests, ${withRows} of them with rows, ${differences.length} differences\n`,
  );
  expect(requests).toBe(300);
  expect(withRows).toBeGreaterThan(150);
  expect(differences).toEqual([]);
  // The test runs nine hundred queries.
}, 1_800_000);
