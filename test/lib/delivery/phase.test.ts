import { describe, expect, it } from 'vitest';
import { makeJob } from '../../../lib/delivery/job.ts';
import { firstPhase, type Phase, progressOf, targetOf, waiting } from '../../../lib/delivery/phase.ts';
import type { DataState } from '../../../lib/lake/data-version.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import { startingRecord, wanted } from './setting.ts';

const data: DataState = { version: 'v1', fingerprint: 'f1', isListed: true };
const waitsForAttempt: Progress = {
  waitsFor: 'attempt',
  data,
  cacheStatus: 'miss',
  dataChanges: 2,
};
const waitsForSlot: Progress = { waitsFor: 'slot', dataChanges: 1 };
const waitsForNextSlot: Progress = { ...waitsForSlot, cacheStatus: 'miss' };
const target = { data, job: makeJob(wanted.request, wanted.entitlement, data), dataChanges: 0 };

describe('firstPhase', () => {
  it.each<[string, Progress | undefined, Phase]>([
    ['with the lake as it is now', undefined, { at: 'arrived', target, waitsForSlot: false }],
    [
      'with the slot that an earlier request waited for',
      waitsForSlot,
      { at: 'arrived', target: { ...target, dataChanges: 1 }, waitsForSlot: true, waited: undefined },
    ],
    [
      'with the slot that an earlier request waited for, for the attempt after another one',
      waitsForNextSlot,
      {
        at: 'arrived',
        target: { ...target, dataChanges: 1 },
        waitsForSlot: true,
        waited: { at: 'following', target: { ...target, dataChanges: 1 }, cacheStatus: 'miss' },
      },
    ],
    [
      'with the attempt that an earlier request waited for',
      waitsForAttempt,
      {
        at: 'following',
        target: { ...target, dataChanges: 2 },
        cacheStatus: 'miss',
      },
    ],
  ])('begins %s', (_, left, phase) => {
    expect(firstPhase(wanted, data, left)).toEqual(phase);
  });
});

describe('progressOf', () => {
  const changed = targetOf(wanted, data, 2);
  const stored = { document: {}, etag: '"1"', ageMs: 0 };
  const held = { stored, record: startingRecord() };

  it.each<[string, Phase, Progress | undefined]>([
    [
      'nothing for a request that has just arrived',
      { at: 'arrived', target, waitsForSlot: false },
      undefined,
    ],
    [
      'the wait of a request that found no slot',
      { at: 'arrived', target: { ...target, dataChanges: 1 }, waitsForSlot: true },
      waitsForSlot,
    ],
    [
      'the wait of a request that found no slot for the attempt after another one',
      {
        at: 'arrived',
        target: { ...target, dataChanges: 1 },
        waitsForSlot: true,
        waited: { at: 'following', target, cacheStatus: 'miss' },
      },
      waitsForNextSlot,
    ],
    [
      'the attempt that the caller has waited for, if the request begins again',
      {
        at: 'arrived',
        target: changed,
        waitsForSlot: false,
        waited: { at: 'following', target: changed, cacheStatus: 'miss' },
      },
      waitsForAttempt,
    ],
    [
      'the attempt of a request that waits for it',
      { at: 'following', target: changed, cacheStatus: 'miss', seen: stored },
      waitsForAttempt,
    ],
    [
      'the attempt of a request that asks Athena',
      { at: 'leading', target: changed, held, cacheStatus: 'miss', isCreator: true },
      waitsForAttempt,
    ],
  ])('is %s', (_, phase, progress) => {
    expect(progressOf(phase)).toEqual(progress);
  });
});

describe('waiting', () => {
  it.each([
    [waitsForAttempt, 'miss'],
    [{ ...waitsForAttempt, cacheStatus: 'collapsed' } as const, 'collapsed'],
    [waitsForSlot, 'miss'],
  ])(
    'is an answer that carries the progress of the report (%o), with the cache status %s',
    (progress, cacheStatus) => {
      expect(waiting(progress)).toEqual({ delivery: { state: 'waiting', progress, cacheStatus } });
    },
  );
});
