import { dayFolder, type ModelledLake, recordsOf } from './modelled-lake.ts';
import { REWRITES, type WriterPlan } from './plan.ts';
import type { World } from './world.ts';

/** Makes one change to the lake, step by step. If days have markers, most kinds follow the protocol of restatements. */
export async function write(world: World, lake: ModelledLake, plan: WriterPlan): Promise<void> {
  const { time } = world;
  const { kind, day, stepMs, id } = plan;
  await time.delay(plan.atMs);
  world.count(`writer ${kind}`);
  world.tell?.(id, `${kind} ${day}`);
  const pause = () => time.delay(stepMs);
  const { marks } = world.plan.settings;
  const whileOpen = async (act: () => Promise<void>) => {
    if (marks) {
      lake.unmark(day);
      await pause();
    }
    await act();
    if (marks) {
      await pause();
      lake.mark(day);
    }
  };
  const old = recordsOf(lake.now(), day);
  switch (kind) {
    case 'restates':
      return whileOpen(async () => {
        lake.put(day, `${id}-1.parquet`);
        await pause();
        for (const { key } of old) {
          lake.remove(key);
          await pause();
        }
      });
    case 'restates in place':
      return whileOpen(async () => {
        for (const { key } of old) {
          lake.put(day, key.slice(dayFolder(day).length));
          await pause();
        }
      });
    case 'adds a file':
      return whileOpen(async () => lake.put(day, `${id}-added.parquet`));
    case 'removes a day':
      return whileOpen(async () => {
        for (const { key } of old) lake.remove(key);
      });
    case 'empties the table':
      for (const key of lake.now().files.keys()) lake.remove(key);
      return;
    case 'adds and removes a file':
      return whileOpen(async () => {
        const name = `${id}-passing.parquet`;
        lake.put(day, name, { isPassing: true });
        await time.delay(stepMs * 2);
        lake.remove(dayFolder(day) + name);
      });
    case 'takes files away for a while':
      return whileOpen(async () => {
        for (const { key } of old) lake.remove(key);
        await pause();
        // Another writer may take them away again: then they came and went.
        for (const { key, content } of old)
          lake.put(day, key.slice(dayFolder(day).length), { content, isPassing: true });
      });
    case 'writes the same again':
      for (const { key, content } of recordsOf(lake.now(), day)) {
        lake.put(day, key.slice(dayFolder(day).length), { content });
        await pause();
      }
      return;
    case 'rewrites for minutes':
      for (let round = 0; round < REWRITES; round++) {
        for (const { key } of recordsOf(lake.now(), day)) lake.remove(key);
        lake.put(day, `${id}-${round}.parquet`);
        await pause();
      }
      return;
    case 'leaves working files':
      lake.put(day, '_temporary/0/part.parquet');
      lake.put(day, 'part-9/_staging/part.parquet');
      lake.put(day, 'part-9/');
      await pause();
      lake.put(day, '.hidden.parquet');
      return;
  }
}
