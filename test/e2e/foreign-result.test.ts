import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { knownEvents } from './known-events.ts';
import { queryOf, type Service, startService } from './service.ts';

/** An engine that quotes only the values that need quotes, like most CSV writers. */
const sparing: OpenEngine = async ({ scratchDirectory }) => ({
  maxRunning: 1,
  close() {},
  async run({ id }) {
    await mkdir(scratchDirectory, { recursive: true });
    const csvPath = join(scratchDirectory, `${id}.csv`);
    await writeFile(csvPath, '"DeviceOrProxy","Clicks"\n"phone","1"\ntablet,2\n');
    return { csvPath, bytesScanned: 0, planningMs: 0 };
  },
});

let service: Service;
beforeAll(async () => {
  service = await startService(knownEvents(1, 5), { openEngine: sparing });
});
afterAll(() => service.close());

describe('a result that is not in Athena’s CSV dialect', () => {
  it('leads to a 500 at each request, and the answer shows no part of the result', async () => {
    const question = {
      fields: ['DeviceOrProxy', 'Clicks'],
      start: '2026-01-01T00:00:00Z',
      end: '2026-01-02T00:00:00Z',
    };
    for (const _ of ['first', 'again']) {
      const response = await service.request('publisherperformance', queryOf(question));
      expect(response.status).toBe(500);
      expect(response.headers.get('location')).toBeNull();
      expect(await response.text()).not.toMatch(/phone|tablet|dialect/);
    }
  });
});
