import { describe, expect, it } from 'vitest';
import type { Decision, RequestFacts } from '../../../lib/delivery/decide.ts';
import { decide, LONGEST_KEPT_MS, MAX_ATTEMPTS } from '../../../lib/delivery/decide.ts';
import type { JobRecord } from '../../../lib/results/job-record.ts';
import { doneRecord, failedRecord, publishingRecord, startingRecord, underWayRecord } from './setting.ts';

/** A caller who has just come, and whose listing is the one that the records were started for. */
const comes: RequestFacts = {
  ...{ fingerprint: 'f1', hasListed: false, waitedMs: undefined, own: undefined },
  ...{ leftMs: 9_000, longestQueueMs: 4_000, longestQueryMs: 10_000, acceptsGzip: false, scanLimit: 10 },
};
const gzip = { ...comes, acceptsGzip: true };
/** A caller who has waited 5 s for an attempt of another caller. */
const waits = { ...comes, waitedMs: 5_000 };
const owns = { ...waits, own: 'attempt-1' };
const ownsGzip = { ...owns, acceptsGzip: true };
const hurries = { ...owns, leftMs: 8_999 };
const listed = { ...owns, hasListed: true };
/** The same callers, if they saw another listing of the same data version. */
const [comes2, waits2, owns2, listed2] = [comes, waits, owns, listed].map((facts) => ({
  ...facts,
  fingerprint: 'f2',
})) as [RequestFacts, RequestFacts, RequestFacts, RequestFacts];

/** A decision in one line. */
function inShort(decision: Decision): string {
  const { next } = decision;
  if (next === 'start') return `start ${decision.attempts}${decision.isRetry ? ', a retry' : ''}`;
  return next === 'deliver' ? `${decision.encoding}, ${decision.cacheStatus}` : next;
}

type Row = [what: string, JobRecord | undefined, ageMs: number, RequestFacts, decision: string];

const HOUR = 3_600_000;
const PUBLICATION = 50 * 60_000;
const free = { leaseMs: undefined };
const [starting, underWay] = [startingRecord(), underWayRecord()];

const ofSixDays = underWayRecord({ ...free, elapsedMs: HOUR });

const open: Row[] = [
  ['nothing, for who comes', undefined, 0, comes, 'start 1'],
  ['nothing, for who waits: perhaps the data changed', undefined, 0, waits, 'list-again'],
  ['nothing, for who waits and has listed since', undefined, 0, listed, 'start 1'],
  ['a lease', starting, 25_999, comes, 'wait'],
  ['a lease that has surely ended', starting, 26_000, comes, 'take-over'],
  ['a lease that was given up', startingRecord(free), 0, comes, 'take-over'],
  ['a lease for another listing', underWay, 0, comes2, 'wait'],
  ['a start whose query may be under way', startingRecord(free), HOUR - 1, comes, 'take-over'],
  ['a start whose query must have ended', startingRecord(free), HOUR, comes, 'start 1'],
  ['the same, for who waits', startingRecord({ ...free, attempts: 2 }), HOUR, waits, 'start 3'],
  ['a query of some days: its end is recorded first', underWayRecord(free), 90 * HOUR, comes, 'take-over'],
  ['a query of six days: its files will be removed', ofSixDays, 143 * HOUR, comes, 'start 1'],
  ['a lease longer than an hour', startingRecord({ leaseMs: 2 * HOUR }), HOUR, comes, 'wait'],
];

const done = doneRecord();
const old = doneRecord({ isOfVersion: false });
const good = doneRecord({ isOfVersion: false, goodForMs: 2_000 });

const reports: Row[] = [
  ['of the version, for another listing', done, 0, comes2, 'plain, hit'],
  ['of the version, gzipped', done, 0, gzip, 'gzip, hit'],
  ['whose gzipped file is missing', doneRecord({ files: { plain: 9 } }), 0, gzip, 'plain, hit'],
  ['whose plain file is missing', doneRecord({ files: { gzip: 9 } }), 0, comes, 'start 1'],
  ['on its last day', done, LONGEST_KEPT_MS - 1, comes, 'plain, hit'],
  ['whose files may be removed soon', done, LONGEST_KEPT_MS, comes, 'start 1'],
  ['the same, for who saw another listing', done, LONGEST_KEPT_MS, waits2, 'list-again'],
  ['whose query is older than its files', { ...done, endedForMs: 9 }, LONGEST_KEPT_MS - 9, comes, 'start 1'],
  ['of no version, for who comes', old, 0, comes, 'start 1'],
  ['of no version, made for who waits', old, 6_000, waits, 'plain, collapsed'],
  ['of no version, made before who waits came', old, 6_001, waits, 'start 2'],
  ['of no version, whose query had ended before', { ...old, endedForMs: 1 }, 6_000, waits, 'start 2'],
  ['of no version and another listing, for who waits', old, 0, waits2, 'list-again'],
  ['the same, after a listing', old, 0, listed2, 'start 2'],
  ['that is good for 2 s', good, 1_999, comes, 'plain, hit'],
  ['that was good for 2 s', good, 2_000, comes, 'start 1'],
  ['that was good for 2 s after its query', { ...good, endedForMs: 1 }, 1_999, comes, 'start 1'],
  ['that is good, for another listing', good, 0, comes2, 'start 1'],
  ['of the version, made while the caller waited', done, 6_000, waits, 'plain, collapsed'],
  ['of the version, made before', done, 6_001, waits, 'plain, hit'],
  ['whose files came while the caller waited', { ...done, endedForMs: HOUR }, 0, waits, 'plain, collapsed'],
];

const publishing = publishingRecord();
const half = publishingRecord({ files: { gzip: 9 } });
const halfOld = { ...half, isOfVersion: false };

const publications: Row[] = [
  ['without files', publishing, 0, comes, 'publish'],
  ['without files, for another listing', { ...publishing, isOfVersion: false }, 0, waits2, 'publish'],
  ['with the gzipped file, for a caller who can’t read it', half, 0, comes, 'publish'],
  ['with the gzipped file, of no version', halfOld, 0, gzip, 'publish'],
  ['with the gzipped file, own, of no version', halfOld, 0, ownsGzip, 'gzip, miss'],
  ['that Lambda may still run', publishing, PUBLICATION - 1, comes, 'publish'],
  ['that has died', publishing, PUBLICATION, comes, 'start 1'],
  ['that has died after its first file', publishingRecord({ endedForMs: HOUR }), 0, waits, 'start 2'],
  ['that has died after the gzipped file', half, PUBLICATION, gzip, 'gzip, hit'],
];

const tooLarge = failedRecord('too-large', { isOfVersion: true, limit: 10 });
const tooLargeOnce = failedRecord('too-large', { limit: 10 });

const limited = { ...waits, scanLimit: 11 };

const limits: Row[] = [
  ['of the version, for another listing', tooLarge, 0, comes2, 'refuse'],
  ['under a lower limit', tooLarge, 0, { ...comes, scanLimit: 11 }, 'start 1'],
  ['when the limit is not known now', tooLarge, 0, { ...comes, scanLimit: undefined }, 'start 1'],
  ['of no version', tooLargeOnce, 0, comes, 'start 1'],
  ['of no version and another listing, for who waits', tooLargeOnce, 0, waits2, 'list-again'],
  ['of no version, while the caller waited', tooLargeOnce, 6_000, waits, 'refuse'],
  ['of no version, before the caller came', tooLargeOnce, 6_001, waits, 'start 2'],
  ['of no version, seen by who takes over', { ...tooLargeOnce, seenAfterMs: 60_000 }, 0, waits, 'refuse'],
  ['under another limit, which came before', { ...tooLarge, seenAfterMs: 60_000 }, 0, limited, 'start 2'],
  ['under another limit, while the caller waited', tooLarge, 0, { ...waits, scanLimit: 9 }, 'refuse'],
];

const failed = failedRecord('engine');
const retry = { isRetry: true };
const last = { attempts: MAX_ATTEMPTS };
const changed = failedRecord('data-changed');

const failures: Row[] = [
  ['for who comes', failed, 0, comes, 'start 1'],
  ['for another listing', failed, 0, owns2, 'list-again'],
  ['for another listing, after a new one', failed, 0, listed2, 'start 2'],
  ['own, however long ago', failed, 90 * HOUR, owns, 'refuse'],
  // It ended 2 s before the record was written. A second is added because S3 gives ages in whole seconds.
  ['just before the caller came', { ...failed, seenAfterMs: 2_000 }, 2_001, waits, 'start 2'],
  ['surely after the caller came', { ...failed, seenAfterMs: 2_000 }, 2_000, waits, 'refuse'],
  ['of another attempt than the own', failed, 6_000, { ...owns, own: 'earlier' }, 'start 2'],
  ['unreadable', failedRecord('unreadable'), 0, owns, 'refuse'],
  ['unpublished', failedRecord('unpublished'), 0, owns, 'refuse'],
  ['an hour before its publication', { ...failed, endedForMs: HOUR }, 0, waits, 'start 2'],
  ['retryable', failedRecord('retryable'), 0, owns, 'start 2, a retry'],
  ['retryable, of others', failedRecord('retryable'), 9_000, waits, 'start 2'],
  ['retryable, on its retry', failedRecord('retryable', retry), 0, owns, 'refuse'],
  ['lost', failedRecord('lost'), 0, hurries, 'start 2'],
  ['lost, on its retry', failedRecord('lost', retry), 0, owns, 'start 2, a retry'],
  ['stopped, with time for another query', failedRecord('too-long'), 0, owns, 'start 2'],
  ['stopped, without time for another query', failedRecord('too-long'), 0, hurries, 'refuse'],
  ['stopped, of another listing', failedRecord('too-long'), 0, { ...hurries, fingerprint: 'f2' }, 'refuse'],
  ['while files changed', changed, 0, owns, 'list-again'],
  ['while files changed, after a new listing', changed, 0, listed, 'start 2'],
  ['while files changed, before the caller came', changed, 9_000, waits, 'list-again'],
  ['lost, the fifth', failedRecord('lost', { attempts: 5 }), 0, owns, 'start 6'],
  ['lost, the sixth', failedRecord('lost', last), 0, owns, 'refuse'],
  ['while files changed, the sixth', failedRecord('data-changed', last), 0, owns, 'refuse'],
  ['lost, the sixth, before the caller came', failedRecord('lost', last), 9_000, waits, 'start 7'],
];

describe.each([
  ['an attempt that has not ended', open],
  ['a report', reports],
  ['a publication', publications],
  ['a query above the scan limit', limits],
  ['a failed query', failures],
])('decide, with the record of %s,', (_, rows) => {
  it.each(rows)('%s', (_what, record, ageMs, facts, decision) => {
    const decided = decide(record, ageMs, facts);
    expect(inShort(decided)).toBe(decision);
    if ('record' in decided) expect(decided.record).toBe(record);
  });
});

it('a report is delivered on six of the seven days that its files are kept', () => {
  expect(LONGEST_KEPT_MS).toBe(6 * 86_400_000);
});
