import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { pythonWith } from '../clients/python.ts';
import { endOf } from '../connectors/dlt-connector.ts';
import { DAYS, FIELDS, startRestatedService } from '../connectors/restated-service.ts';
import { type EventRow, expectedReport } from '../e2e/expected-report.ts';
import { ownFolder } from '../own-folder.ts';

const RESTATEMENTS = 200;
const KILLS = 20;

const python = await pythonWith('requests', ['requests==2.34.2']);

const home = await ownFolder();
const service = await startRestatedService(90);
afterAll(() => service.close());

const anyDay = () => service.days[Math.floor(service.random() * DAYS)] as string;

const start = (folder: string, ...options: string[]) => {
  const window = [service.days[0] as string, service.end, '--fields', FIELDS.join(',')];
  return spawn(String(python), ['docs/programs/incremental_pull.py', folder, ...window, ...options], {
    env: { PATH: process.env['PATH'], ...service.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

async function sync(folder: string, ...options: string[]) {
  const { code, output } = await endOf(start(folder, ...options));
  const [, pulled, bytes] = /(\d+) of them pulled, (\d+) bytes/.exec(output) ?? [];
  return { code, output, pulled: Number(pulled), bytes: Number(bytes) };
}

async function contentOf(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.csv')).sort();
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

const expectedContent = (): Record<string, string> =>
  Object.fromEntries(
    service.days.flatMap((day, nth) => {
      const events = service.eventsOn(day) as readonly EventRow[] | undefined;
      const window = { start: `${day}T00:00:00Z`, end: `${service.days[nth + 1] ?? service.end}T00:00:00Z` };
      const question = { fields: FIELDS, ...window };
      return events ? [[`${day}.csv`, expectedReport('publisherperformance', events, question)]] : [];
    }),
  );

const sizeOf = (content: Readonly<Record<string, string>>): number =>
  Object.values(content).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

describe.skipIf(!python)('docs/programs/incremental_pull.py', () => {
  it(`leaves the files that the events must give after each of ${RESTATEMENTS} random restatements, but pulls at most 1.5/90 of the bytes`, async () => {
    const sink = join(home, 'sink');
    expect(await sync(sink)).toMatchObject({ code: 0, pulled: DAYS });
    let worst = 0;
    for (let nth = 1; nth <= RESTATEMENTS; nth++) {
      const day = anyDay();
      const isVanishing = service.random() < 0.03 && service.eventsOn(day) !== undefined;
      await (isVanishing ? service.takeBack(day) : service.restate(day));
      const { code, output, bytes } = await sync(sink);
      expect({ code, output }).toMatchObject({ code: 0 });
      const content = await contentOf(sink);
      expect(content).toEqual(expectedContent());
      worst = Math.max(worst, bytes / sizeOf(content));
    }
    process.stdout.write(
      `${RESTATEMENTS} restatements: a sync pulls at most ${(worst * 90).toFixed(2)}/90 of a full pull's bytes\n`,
    );
    expect(worst).toBeLessThanOrEqual(1.5 / 90);
    expect(await sync(sink)).toMatchObject({ code: 0, pulled: 0, bytes: 0 });
  }, 3_600_000);

  it(`leaves no gap and no duplicate after ${KILLS} kills`, async () => {
    const sink = join(home, 'killed');
    const from = performance.now();
    await sync(join(home, 'timed'));
    const wholeMs = performance.now() - from;
    let interrupted = 0;
    for (let nth = 0; nth < KILLS; nth++) {
      for (let changed = 0; changed < 12; changed++) await service.restate(anyDay());
      const known: Record<string, string> = await contentOf(sink).catch(() => ({}));
      const child = start(sink);
      await pause(service.random() * wholeMs * (nth < 5 ? 0.9 : 0.4));
      if (child.exitCode === null) interrupted++;
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      const expected = expectedContent();
      // Every file is complete. It has either its earlier content or the new content.
      for (const [name, content] of Object.entries(await contentOf(sink)))
        expect([known[name], expected[name]]).toContain(content);
    }
    process.stdout.write(`${interrupted} of ${KILLS} kills met a running pull\n`);
    expect(interrupted).toBeGreaterThan(KILLS / 2);
    expect(await sync(sink)).toMatchObject({ code: 0 });
    expect(await contentOf(sink)).toEqual(expectedContent());
  });

  it('with --final, fails and names the days that are not complete, and pulls the others', async () => {
    const sink = join(home, 'final');
    const [first, , , open = '', , gone = ''] = service.days;
    await service.restate(open, { isFinal: false });
    if (service.eventsOn(gone)) await service.takeBack(gone);
    const { code, output } = await sync(sink, '--final');
    expect(code).toBe(1);
    expect(output).toMatch(RegExp(`Not complete: .*${open} \\(open\\).*${gone} \\(no events\\)`));
    expect(await contentOf(sink)).toEqual(expectedContent());
    expect(await sync(sink)).toMatchObject({ code: 0, pulled: 0 });
    // Other users of the machine must be able to read the files.
    expect((await stat(join(sink, `${first}.csv`))).mode & 0o044).toBe(0o044);
  });
});
