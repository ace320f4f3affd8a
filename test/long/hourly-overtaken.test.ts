import { expect, it } from 'vitest';
import { DAY, startHoursWorld } from '../tools/hours-world.ts';

it.each(
  (['final', 'open'] as const).flatMap((was) => (['final', 'open'] as const).map((is) => ({ was, is }))),
)(
  'lake -- hourly leaves hours of the latest version in the end, even if a second run overtakes the first and is killed; the day was $was when the first began, $is when the second began',
  async ({ was, is }) => {
    for (let call = 1, isHeld = true; isHeld; call++) {
      await using world = await startHoursWorld();
      for (let write = 1; write <= 4; write++) {
        const day = `2026-02-0${write}`;
        await world.restate({ day, isOpen: was === 'open' });
        await world.hourly();
        await world.restate({ day, isOpen: was === 'open' });
        const { wasHeld } = await world.heldAt(call, 'call', async () => {
          await world.restate({ day, isOpen: is === 'open' });
          await world.cutOffAt(write);
        });
        isHeld = wasHeld;
        await world.restate({ day });
        expect((await world.hourly()).code).toBe(0);
        expect((await world.look())[day]).toBe(world.version);
      }
    }
  },
);

it('lake -- hourly leaves hours of the latest version in the end, even if it runs twice at once', async () => {
  await using world = await startHoursWorld();
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
