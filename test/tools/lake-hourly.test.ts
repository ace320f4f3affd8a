import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { conditionalRequestConflict } from '../../local/object-store/s3-protocol.ts';
import { openBucket } from '../../tools/lake/store/bucket.ts';
import { DAY, startHoursWorld } from './hours-world.ts';
import { runLake } from './run-lake.ts';

const world = await startHoursWorld();
afterAll(() => world[Symbol.asyncDispose]());
await world.restate();

describe('npm run lake -- hourly', () => {
  it('sums only new and restated days', async () => {
    const first = await world.hourly();
    expect(first.stdout).toMatch(/^publisher_events: 2 days summed .*: 60 records, by the hour 6 records\n/);
    expect(first.code).toBe(0);
    const calls: string[] = [];
    world.onCall((call) => calls.push(call));
    const idle = await world.hourly();
    world.onCall(() => {});
    expect(idle.stdout).toBe('publisher_events: no day summed; 2 days up to date\nNothing was to be done.\n');
    expect(calls.filter((call) => !/^(LIST|GET .*_SUCCESS)/.test(call))).toEqual([]);
    await world.restate();
    const again = /: 1 day summed \(2026-01-30\): 30 records.*; 1 day up to date\n/;
    expect((await world.hourly()).stdout).toMatch(again);
    expect((await world.look())[DAY]).toBe(world.version);
  });

  it('never mixes versions in a day and sums the latest in the end, no matter at which write a run is cut off', async () => {
    // The three writes remove the marker, write the file, and write the marker. test/long kills processes at each.
    for (const write of [1, 2, 3]) {
      await world.restate();
      await world.cutOffAt(write);
      await world.look();
      expect(await world.hourly()).toMatchObject({ code: 0, stderr: '' });
      expect((await world.look())[DAY]).toBe(world.version);
    }
  });

  it.each([
    ['final', '2026-02-03', 3],
    ['open', '2026-02-05', 2],
  ])(
    'sums the latest version in the end, even if another run overtakes a slow run that began while the day was %s',
    async (was, day, write) => {
      // The day has no hours yet, so a run writes its hours even while the day is open.
      await world.restate({ day, isOpen: was === 'open' });
      const slow = await world.heldAt(write, 'write', async () => {
        await world.restate({ day });
        expect(await world.hourly()).toMatchObject({ code: 0, stderr: '' });
      });
      expect(slow).toMatchObject({ code: 0, stderr: '' });
      // The slow run has put no marker of its own beside the other run's file.
      expect((await world.hourly()).stdout).toMatch(/\nNothing was to be done\.\n$/);
      expect((await world.look())[day]).toBe(world.version);
    },
  );

  it.each(['hours.parquet', '_SUCCESS'])(
    'makes a day again whose %s was answered 409: only another try shows which of two simultaneous writes won',
    async (name) => {
      await world.restate();
      let writes = 0;
      world.onCall((call) => {
        if (RegExp(`^PUT \\S*hours/.*/${name}`).test(call) && ++writes === 1)
          throw conditionalRequestConflict();
      });
      const run = await world.hourly();
      world.onCall(() => {});
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(writes).toBe(2);
      expect((await world.look())[DAY]).toBe(world.version);
    },
  );

  it('reads a day again that was restated while it was read', async () => {
    await world.restate();
    let isRestated = false;
    world.onCall(async (call) => {
      if (isRestated || !/^LIST .*raw.*day=/.test(decodeURIComponent(call))) return;
      isRestated = true;
      await world.restate();
    });
    const { stdout } = await world.hourly();
    world.onCall(() => {});
    expect([isRestated, stdout]).toEqual([true, expect.stringMatching(/: 1 day summed \(2026-01-30\): 30/)]);
    expect((await world.look())[DAY]).toBe(world.version);
  });

  it('does not trust a marker that belongs to another file', async () => {
    const bucket = openBucket(world.HOURS);
    const marker = `publisher_events/day=${DAY}/_SUCCESS`;
    const note = await text(await bucket.read(marker));
    await bucket.write(marker, note.replace(/"file":"\\"\w+/, '"file":"\\"other'));
    expect((await world.hourly()).stdout).toMatch(/: 1 day summed \(2026-01-30\)/);
    expect(await text(await bucket.read(marker))).toBe(note);
  });

  it('keeps another writer’s files; with --replace, removes them before it writes its own file', async () => {
    const day = `publisher_events/day=${DAY}`;
    await openBucket(world.HOURS).write(`${day}/other.parquet`, 'x');
    const others = /NOT DONE: 1 day \(2026-01-30\) with files of another writer.* --replace\n/;
    expect(await world.hourly()).toMatchObject({ code: 1, stdout: expect.stringMatching(others) });
    const calls: string[] = [];
    world.onCall((call) => calls.push(call));
    expect(await world.hourly('--replace')).toMatchObject({ code: 0, stderr: '' });
    world.onCall(() => {});
    const inDay = calls
      .filter((call) => /^(PUT|DELETE) /.test(call))
      .map((call) => call.replace(/ .*\//, ' '));
    expect(inDay).toEqual(['DELETE _SUCCESS', 'DELETE other.parquet', 'PUT hours.parquet', 'PUT _SUCCESS']);
  });

  it.each([
    [['--from', 's3://a/b', '--to', 's3://a/b/c'], /one lies in the other/],
    [
      ['--from', 's3://the-lake/none', '--to', 's3://the-lake/hours'],
      /none holds no day\. It has to be a lake/,
    ],
    [['--from', 's3://a/b'], /hourly --from <raw lake>/],
    [['--day', '2026-02-30'], /--day is 2026-02-30; write a day/],
    [['--day', '2026-01-02..2026-01-01'], /write a day, 2026-01-31, or the first and the last/],
    [['--day', '2025-01-01'], /holds no day that was asked for/],
    [['--table', 'publisher_events'], /Unknown option '--table'/],
  ])('says what is wrong with the options %s', async (options, says) => {
    const asked = options.includes('--from') ? [] : ['--from', world.RAW, '--to', world.HOURS];
    const { code, stderr } = await runLake(['hourly', ...asked, ...options]);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });
});
