import { describe, expect, it } from 'vitest';
import { readFormerRecord } from '../../../lib/delivery/former-forms.ts';

const every = { form: 1, token: 'token-1', trace: 'trace-1' };
const open = { ...every, askedUntil: 5, claim: 'claim-1', isRetry: true, startedFor: 'client-1' };
const figures = { executionId: 'q1', submittedAt: 1, completedAt: 2, bytesScanned: 3, engineMs: 4 };
const succeeded = {
  ...every,
  ...figures,
  state: 'succeeded',
  location: 's3://results/athena/q1.csv',
  resultBytes: 9,
  isCopy: true,
  goodUntil: 99,
};
const cutOff = { ...every, ...figures, state: 'cut-off', limit: 10 };
const read = (document: unknown, ageMs = 7_000) => readFormerRecord({ document, etag: '"1"', ageMs });
const named = { form: 2, writer: '', attempt: 'token-1' };

describe('what the release before stored', () => {
  it.each<[string, object, object]>([
    [
      'an attempt that is claimed is one that anybody may take over',
      { ...open, state: 'starting' },
      { ...named, state: 'starting', isRetry: true },
    ],
    [
      'a query under way is one that anybody may take over, as old as its record',
      { ...open, state: 'under-way', executionId: 'q1', startedAt: 3 },
      { ...named, state: 'under-way', isRetry: true, executionId: 'q1', elapsedMs: 7_000 },
    ],
    [
      'a report of its version',
      succeeded,
      {
        ...named,
        ...figures,
        state: 'succeeded',
        location: 's3://results/athena/q1.csv',
        resultBytes: 9,
        isOfVersion: true,
      },
    ],
    [
      'a query above the scan limit',
      cutOff,
      { ...named, ...figures, state: 'scan-limit-exceeded', limit: 10 },
    ],
    [
      'a query above a limit that was not known',
      { ...cutOff, limit: 0 },
      { ...named, ...figures, state: 'scan-limit-exceeded' },
    ],
  ])('%s', (_, former, expected) => {
    expect(read(former)).toEqual(expected);
  });

  it('tells nothing any more when what replaced it may have expired', () => {
    expect(read(succeeded, 6 * 86_400_000 - 1)).toBeDefined();
    expect(read(succeeded, 6 * 86_400_000)).toBeUndefined();
  });

  it('a report of no one version is not one of a version', () => {
    expect(read({ ...succeeded, isCopy: false })).toMatchObject({ isOfVersion: false });
  });

  it.each<[string, unknown]>([
    ['a failure', { ...every, ...figures, state: 'failed', reason: 'FAILED: x', hasDataMoved: false }],
    ['another form', { ...succeeded, form: 0 }],
    ['the form of now', { ...succeeded, form: 2 }],
    ['no JSON', undefined],
    ...Object.keys(figures).map((field): [string, unknown] => [
      `no ${field}`,
      { ...cutOff, [field]: undefined },
    ]),
  ])('counts as absent with %s', (_, document) => {
    expect(read(document)).toBeUndefined();
  });

  it('counts as absent where nothing is stored', () => {
    expect(readFormerRecord(undefined)).toBeUndefined();
  });
});
