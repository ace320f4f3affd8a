import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import type { OpenedEngine } from '../../local/athena/query-engine.ts';
import { openWriter } from '../tools/make-parquet.ts';
import { compareLakes, makeThreeLakes, type ThreeLakes } from '../tools/three-lakes.ts';

let directory: string;
let lakes: ThreeLakes;
const engines: Record<string, OpenedEngine> = {};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lake-forms-'));
  lakes = await makeThreeLakes(directory);
  for (const [name, folder] of Object.entries(lakes.folders))
    engines[name] = await duckDbOn(folder)({
      database: 'lake',
      scratchDirectory: join(directory, `scratch-${name}`),
    });
});
afterAll(async () => {
  for (const engine of Object.values(engines)) engine.close();
  await rm(directory, { recursive: true });
});

it('a raw, a sorted and an hourly lake give the same bytes for 300 reports that begin and end at whole hours', async () => {
  const { requests, withRows, differences } = await compareLakes(engines, lakes.events);
  expect(requests).toBe(300);
  expect(withRows).toBeGreaterThan(150);
  expect(differences).toEqual([]);
});

it('an hourly lake has at most a third of the records of a raw lake', async () => {
  using writer = await openWriter(directory);
  for (const table of ['publisher_events', 'advertiser_events']) {
    const rows = async (lake: string) =>
      Number((await writer.rows(`SELECT count(*) FROM '${lake}/${table}/*/*.parquet'`))[0]?.[0]);
    expect(await rows(lakes.folders.hourly)).toBeLessThanOrEqual((await rows(lakes.folders.raw)) / 3);
    expect(await rows(lakes.folders.sorted)).toBe(await rows(lakes.folders.raw));
  }
});
