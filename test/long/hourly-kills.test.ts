import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY, type HoursWorld, restateAndKill, startHoursWorld } from '../tools/hours-world.ts';

const RESTATEMENTS = 50;

let world: HoursWorld;
beforeAll(async () => {
  world = await startHoursWorld();
});
afterAll(() => world.close());

it(
  `lake -- hourly leaves hours of the latest version after each of ${RESTATEMENTS} restatements, even if runs are killed at each write in turn`,
  async () => {
    let kills = 0;
    for (let nth = 0; nth < RESTATEMENTS; nth++) kills += await restateAndKill(world, nth % 2 === 1);
    process.stdout.write(`${kills} runs were killed.\n`);
    expect(kills).toBeGreaterThanOrEqual(2 * RESTATEMENTS);
  },
  20 * 60_000,
);

it('lake -- hourly leaves hours of the latest version in the end, even if it runs twice at once', async () => {
  for (let turn = 0; turn < 20; turn++) {
    await world.restate();
    // Some calls are delayed, so that calls of the two runs alternate in different ways.
    let calls = 0;
    world.onCall(async () => {
      await world.look();
      if (++calls % 3 === turn % 3) await new Promise((resolve) => setTimeout(resolve, 3));
    });
    const runs = await Promise.all([world.hourly(), world.hourly('--again')]);
    world.onCall(() => {});
    expect(runs.map(({ stderr }) => stderr).join('')).toBe('');
    expect(await world.hourly()).toMatchObject({ code: 0, stderr: '' });
    expect((await world.look())[DAY]).toBe(world.version);
  }
});
