import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { compileQuery } from '../../lib/report/compile-query.ts';
import { parseRequest } from '../../lib/report/parse-request.ts';
import type { CodeFolder } from '../code-folder.ts';
import { parametersOf } from '../lib/report/parameters.ts';
import { codeOfReleaseBefore } from '../releases/release-before.ts';
import { idOf, readQuery } from './read-query.ts';
import type { Shrunk } from './shrink.ts';
import { insert, type Timer } from './virtual-time.ts';
import type { Batch } from './worker.ts';
import { startWorkers, type Workers } from './workers.ts';

const root = join(import.meta.dirname, '../..');

let workers: Workers;
let before: CodeFolder | undefined;
beforeAll(async () => {
  before = codeOfReleaseBefore('machines of the release before, in worlds');
  workers = await startWorkers(1, { current: root, before: before?.folder });
});
afterAll(async () => {
  await workers.end();
  before?.[Symbol.dispose]();
});

describe('a world', () => {
  it('is the same when it is run again', async () => {
    const told = () => workers.run<{ history: string[] }>({ seed: 3, without: [] });
    const { history } = await told();
    expect(history.length).toBeGreaterThan(50);
    expect((await told()).history).toEqual(history);
  });

  it('is the same whatever was run before it', async () => {
    const together = await workers.run<Batch>({ from: 20, worlds: 3 });
    const counts = new Map<string, number>();
    for (const from of [22, 20, 21]) {
      const alone = await workers.run<Batch>({ from, worlds: 1 });
      for (const [what, times] of alone.counts) counts.set(what, (counts.get(what) ?? 0) + times);
    }
    expect(new Map([...counts].sort())).toEqual(new Map([...together.counts].sort()));
  });

  it('is the same if a part that it does not have is left out', async () => {
    const { history } = await workers.run<Shrunk>({ seed: 5, without: [] });
    expect((await workers.run<Shrunk>({ seed: 5, without: ['actor c99'] })).history).toEqual(history);
  });
});

describe('worlds', () => {
  /** These worlds take some five seconds of CPU. `npm run worlds -- --worlds 100000` runs more worlds. */
  const WORLDS = 300;

  it('break no rule, also while half of the machines run the release before', async () => {
    const { failures, counts } = await workers.run<Batch>({ from: 1_000_000, worlds: WORLDS });
    expect(failures).toEqual([]);
    if (before) expect(counts.get('machine of the release before')).toBeGreaterThan(WORLDS / 2);
  });

  it('that have failed once break no rule any more', async () => {
    const seeds: number[] = JSON.parse(readFileSync(join(import.meta.dirname, 'failed-seeds.json'), 'utf8'));
    for (const from of seeds) {
      const { failures } = await workers.run<Batch>({ from, worlds: 1 });
      expect(failures).toEqual([]);
    }
  });
});

describe('readQuery', () => {
  const parameters = parametersOf('2026-01-29/2026-01-31', 'Day,Clicks');
  const request = parseRequest(publisherReport, { accept: undefined, parameters });
  const days = ['2026-01-29', '2026-01-30'];
  const { sql: ofTwo } = compileQuery(request, [BigInt(idOf(1)), BigInt(idOf(3))]);

  it('reads days and companies', () => {
    expect(readQuery({ sql: ofTwo, parameters: [] })).toEqual({ days, companies: [1, 3] });
    expect(readQuery(compileQuery(request, 'every-company'))).toEqual({ days });
  });

  it.each([
    ['a query with another grouping', ofTwo.replace('GROUP BY day', 'GROUP BY day, placement_id')],
    ['a query with another predicate', ofTwo.replace('GROUP BY', 'AND placement_id = 7\nGROUP BY')],
    ['a query of another table', ofTwo.replace('publisher_events', 'advertiser_events')],
  ])('refuses %s', (_, sql) => {
    expect(() => readQuery({ sql, parameters: [] })).toThrow('an unplanned query');
  });
});

it('timers act in the order of their times, and those of the same time in the order in which they were set', () => {
  const timers: Timer[] = [];
  const all = [5, 1, 3, 1, 4, 1, 3].map(
    (at): Timer => ({ at, act: () => {}, isSilent: false, isOff: false }),
  );
  for (const timer of all) insert(timers, timer);
  expect(timers.reverse().map((timer) => all.indexOf(timer))).toEqual([1, 3, 5, 2, 6, 4, 0]);
});

describe('the mutants', () => {
  it('each replace a text that occurs exactly once in its file', () => {
    const path = join(import.meta.dirname, 'mutants/mutants.json');
    const mutants: { file: string; find: string }[] = JSON.parse(readFileSync(path, 'utf8'));
    expect(mutants.length).toBeGreaterThanOrEqual(60);
    const places = ({ file, find }: { file: string; find: string }) =>
      readFileSync(join(import.meta.dirname, '../..', file), 'utf8').split(find).length - 1;
    expect(mutants.filter((mutant) => places(mutant) !== 1)).toEqual([]);
  });
});
