import { describe, expect, it, vi } from 'vitest';
import { deliverReport } from '../../../lib/delivery/deliver-report.ts';
import type { DeliveryBackends, DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { readDataState } from '../../../lib/lake/read-data-state.ts';
import { type Setting, setting, termsNow, wanted } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

/** How long each call takes, in milliseconds: longer than all other pauses of a delivery together. */
const CALL_MS = 1_000;

type Call = (...given: never[]) => Promise<unknown>;

/** Makes the calls of a service slow. Calls that start at the same time end at the same time. */
const slow = <T extends object>(service: T): T =>
  new Proxy(service, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || ['folderOf', 'locationOf'].includes(String(name))) return member;
      return async (...given: never[]) => {
        await new Promise((resolve) => setTimeout(resolve, CALL_MS));
        return (member as Call).apply(target, given);
      };
    },
  });

/** Counts the calls that run one after the other until the report is ready, including the first listing. */
async function callsInARow(of: Setting, more: Partial<DeliveryTerms> = {}): Promise<number> {
  const { lake, results, queries } = of.backends;
  const backends: DeliveryBackends = { lake: slow(lake), results: slow(results), queries: slow(queries) };
  const from = Date.now();
  const delivering = readDataState(backends.lake, wanted.request, 0).then((data) =>
    deliverReport(backends, wanted, termsNow(more), of.note, data),
  );
  expect(await settled(delivering)).toMatchObject({ state: 'ready' });
  const ms = Date.now() - from;
  // The pauses between the calls must not add up to the time of a call.
  expect(ms % CALL_MS).toBeLessThan(CALL_MS / 10);
  return Math.floor(ms / CALL_MS);
}

const withSlots = { queriesPerPartner: 5 };
const withGzip = { acceptsGzip: true };

describe('the calls to AWS that a report waits for, one after the other', () => {
  // Calls of one step run at the same time. The eight steps are: the listing; the job's stored documents; the attempt;
  // the start; the look that finds the result; Athena's answer, the closing listing and the result; the files; the
  // records. With a limit of queries, one more step writes the slot before the attempt.
  it.each<[string, Partial<DeliveryTerms>, number]>([
    ['a plain file, no limit', {}, 8],
    ['a gzipped file, no limit', withGzip, 8],
    ['a plain file, a limit', withSlots, 9],
    ['a gzipped file, a limit', { ...withSlots, ...withGzip }, 9],
  ])(
    'are eight for a fresh report, and nine if the client has a limit of queries: %s',
    async (_, terms, calls) => {
      expect(await callsInARow(setting({}), terms)).toBe(calls);
    },
  );

  it.each<[string, Partial<DeliveryTerms>, Partial<DeliveryTerms>]>([
    ['a plain file, no limit of queries', {}, {}],
    ['a gzipped file of a report that was first requested plain', {}, withGzip],
    ['a plain file, a limit of queries', withSlots, withSlots],
  ])('are two for a cached report: %s', async (_, first, second) => {
    const of = setting({});
    await callsInARow(of, first);
    expect(await callsInARow(of, second)).toBe(2);
  });
});
