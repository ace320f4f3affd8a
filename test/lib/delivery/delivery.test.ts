import { expect, it } from 'vitest';
import { makeJob } from '../../../lib/delivery/delivery.ts';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import type { Entitlement } from '../../../lib/report/entitlement.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { parametersOf } from '../report/parameters.ts';

const usual = parametersOf('2026-01-01/2026-02-01T12:30:45Z', 'Day,Clicks');
const all = 'every-company' as Entitlement;
const jobOf = (more = {}, { of = publisherReport, rows = all, version = 'v1', fingerprint = 'f' } = {}) => {
  const request = parseRequest(of, { accept: undefined, parameters: { ...usual, ...more } });
  return makeJob({ request, entitlement: rows }, { version, fingerprint, isListed: true });
};
const job = jobOf();

it('a job has an id, a file name, and columns in the requested order', () => {
  expect(job.id).toMatch(/^[0-9a-f]{64}$/);
  expect(job.fileName).toBe('publisherperformance_20260101T000000Z_20260201T123045Z.csv');
  expect(jobOf({ requestedFields: ['Revenue,Day'] }, { rows: [1n] }).columns).toEqual([
    { name: 'Revenue', type: 'float' },
    { name: 'Day', type: 'datetime' },
  ]);
});

it('a job is the same for an equal request for the same rows of the same data, and has another id for any other', () => {
  expect(jobOf()).toEqual(job);
  // A day that was only marked as complete has the same data under another fingerprint.
  expect(jobOf({}, { fingerprint: 'g' }).id).toBe(job.id);
  const others = [
    ...[jobOf({}, { version: 'v2' }), jobOf({}, { rows: [7n] }), jobOf({}, { of: advertiserReport })],
    ...[jobOf({ requestedFields: ['Day,Opens'] }), jobOf({ requestedFields: ['Clicks,Day'] })],
    jobOf({ endExclusive: ['2026-02-01T12:30:46Z'] }),
    ...[['1'], ['2'], ['1', '2']].map((values) => jobOf({ 'filter[PlacementId]': values })),
  ];
  expect(new Set([job, ...others].map(({ id }) => id)).size).toBe(10);
});
