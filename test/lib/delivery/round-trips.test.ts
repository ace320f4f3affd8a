import { expect, it, vi } from 'vitest';
import type { DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { following } from './ask.ts';
import { CSV, type Setting, setting } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

/** How long each call takes, in milliseconds: longer than all other pauses of a delivery together. */
const CALL_MS = 1_000;

/** Makes the calls of a service slow. Calls that start at the same time end at the same time. */
const slow = <T extends object>(service: T): T =>
  new Proxy(service, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || ['folderOf', 'locationOf'].includes(String(name))) return member;
      return async (...given: never[]) => {
        await new Promise((resolve) => setTimeout(resolve, CALL_MS));
        return member.apply(target, given);
      };
    },
  });

/**
 * Gets a report: how many calls run one after the other; and which calls reach S3, without the looks for the result and
 * without the names of the objects.
 */
async function callsOf(of: Setting, more: Partial<DeliveryTerms> = {}) {
  const [lake, results, queries] = [slow(of.lake), slow(of.results), slow(of.queries)];
  const from = Date.now();
  of.results.calls.length = 0;
  const answer = await settled(following({ ...of, lake, backends: { lake, results, queries } }, more));
  expect([answer.text, answer.hops]).toEqual([CSV, 0]);
  const ms = Date.now() - from;
  // The pauses between the calls must not add up to the time of a call.
  expect(ms % CALL_MS).toBeLessThan(CALL_MS / 10);
  const toS3 = of.results.calls.filter((call) => !call.startsWith('head athena/'));
  const named = toS3.map((call) => call.replace(/\/.*?(\.gz)?$/, '$1')).sort();
  return { inARow: Math.floor(ms / CALL_MS), toS3: [...of.lake.looks.splice(0).map(() => 'list'), ...named] };
}

const slots = { queriesPerPartner: 5 };

// Nine calls of S3 in all, and eleven with a limit of queries. Calls of one step run at the same time. The eight steps are: the listing; the job's record; the attempt; the start;
// the look that finds the result; Athena's answer, the closing listing and the result; the files; the end. With a limit
// of queries, one more step writes the slot before the attempt.
const end = 'readResult athena,replace jobs,replace jobs,writeFile reports,writeFile reports.gz'.split(',');
const fresh = ['list', 'list', 'create jobs', 'read jobs', ...end];
const withSlot = ['list', 'list', 'create jobs', 'create slots', 'read jobs', 'read slots', ...end];
it.each<[string, Partial<DeliveryTerms>, number, string[]]>([
  ['without a limit of queries', {}, 8, fresh],
  ['with a limit of queries', slots, 9, withSlot],
])('a fresh report makes these calls: %s', async (_, terms, inARow, toS3) => {
  for (const acceptsGzip of [false, true])
    expect(await callsOf(setting({}), { ...terms, acceptsGzip })).toEqual({ inARow, toS3 });
});

it('a report that exists makes two calls in a row, the listing and the read of its record', async () => {
  const of = setting({});
  await callsOf(of, slots);
  const once = { inARow: 2, toS3: ['list', 'read jobs'] };
  for (const acceptsGzip of [false, true]) expect(await callsOf(of, { acceptsGzip })).toEqual(once);
  // The client's slots are read beside the record, and not waited for.
  expect(await callsOf(of, slots)).toEqual({ inARow: 2, toS3: ['list', 'read jobs', 'read slots'] });
});
