import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { endOf, startProgram } from './dlt-connector.ts';
import { DAYS } from './restated-service.ts';
import type { Scene } from './scene.ts';

/**
 * Declares two tests. One restates days at random, the other kills runs. After each restatement or kill, the next run
 * must make the table equal to a full pull.
 */
export function itStaysEqual(
  python: string,
  sceneOf: () => Scene,
  { restatements, kills }: { readonly restatements: number; readonly kills: number },
): void {
  it(`keeps its table equal to a full pull after each of ${restatements} random restatements, and a run pulls at most 2.5/90 of a full pull’s bytes`, async () => {
    const { service, connector, databaseOf, argv, expectEqual } = sceneOf();
    const database = databaseOf('restated');
    expect(await connector.run(argv(database))).toMatchObject({ code: 0, pulled: service.days.length });
    await expectEqual(database);
    let worst = 0;
    for (let nth = 1; nth <= restatements; nth++) {
      const gone = service.days.filter((day) => !service.eventsOn(day));
      const day = service.random() < 0.3 && gone[0] ? gone[0] : anyDay(service);
      const other = anyDay(service);
      const isVanishing = service.random() < 0.1 && service.eventsOn(day) !== undefined;
      const isUnderWay = !isVanishing && nth % 10 === 0;
      await (isVanishing ? service.takeBack(day) : service.restate(day));
      if (isUnderWay) {
        // Either the day changes before the query of its report, or the day and another day change during the query.
        const isRead = service.random() < 0.5;
        const act = async () => {
          await service.restate(day);
          if (isRead) await service.restate(other);
        };
        if (isRead) service.duringNextQuery(act);
        else service.beforeNextReport(act);
        const { code, output } = await connector.run(argv(database));
        expect({ code, output }).toMatchObject(
          isRead ? { code: 1, output: expect.stringContaining(`run again: ${day}`) } : { code: 0 },
        );
        if (!isRead) await expectEqual(database);
      }
      const { code, output, bytes } = await connector.run(argv(database));
      expect({ code, output }).toMatchObject({ code: 0 });
      const full = await expectEqual(database);
      if (!isUnderWay) worst = Math.max(worst, bytes / full);
    }
    expect(worst).toBeLessThanOrEqual(2.5 / DAYS);
    service.takeRequests();
    expect(await connector.run(argv(database))).toMatchObject({ code: 0, pulled: 0, bytes: 0 });
    expect(service.takeRequests()).toEqual([
      '/reporting/fields',
      'token',
      '/reporting/publisherperformance/days',
    ]);
  }, 3_600_000);

  it(`keeps its table equal to a full pull after each of ${kills} kills at random times, even if its working folder is lost`, async () => {
    const { service, connector, environment, databaseOf, argv, expectEqual } = sceneOf();
    const database = databaseOf('killed');
    expect(await connector.run(argv(database))).toMatchObject({ code: 0 });
    const start = () => startProgram(python, environment, 'performance-reports-sync', argv(database));
    const restateSome = async () => {
      const changed = new Set(Array.from({ length: 10 }, () => anyDay(service)));
      for (const day of changed) await service.restate(day);
      return changed.size;
    };
    let lastReport = 0;
    service.beforeNextReport(
      async () => {
        lastReport = performance.now();
      },
      (await restateSome()) - 1,
    );
    expect(await endOf(start())).toMatchObject({ code: 0 });
    const loadMs = performance.now() - lastReport;
    let interrupted = 0;
    for (let nth = 0; nth < kills; nth++) {
      const changed = await restateSome();
      // Half of the kills happen during the load, which begins after the last report. The others happen in a pull.
      const isLoading = nth % 2 === 0;
      const atReport = isLoading ? changed - 1 : Math.floor(service.random() * changed);
      const reached = new Promise<void>((resolve) => {
        service.beforeNextReport(async () => resolve(), atReport);
      });
      const child = start();
      const ended = endOf(child);
      await reached;
      if (isLoading) await pause(service.random() * loadMs);
      child.kill('SIGKILL');
      if ((await ended).signal === 'SIGKILL') interrupted++;
      if (nth % 3 === 2) await rm(environment['DLT_DATA_DIR'] as string, { recursive: true });
      expect(await connector.run(argv(database))).toMatchObject({ code: 0 });
      await expectEqual(database);
    }
    process.stdout.write(`${interrupted} of ${kills} kills met a running sync\n`);
    expect(interrupted).toBeGreaterThanOrEqual(Math.floor(kills / 2));
  }, 3_600_000);
}

const anyDay = ({ days, random }: Scene['service']): string =>
  days[Math.floor(random() * days.length)] as string;
