import { describe, expect, it, vi } from 'vitest';
import { NoSuchDownload } from '../../../lib/problems/problem.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import { issueTicket, openTicket, updateTicket } from '../../../lib/results/ticket.ts';
import { memoryBucket } from '../delivery/memory-bucket.ts';
import { PARAMETERS, wanted } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';

useFakeTime();

const data = { version: 'v1', fingerprint: 'f1', isListed: true };
const progress: Progress = { waitsFor: 'attempt', dataChanges: 0, data, cacheStatus: 'collapsed' };
const slotProgress: Progress = { waitsFor: 'slot', dataChanges: 2 };
const companies = [9_223_372_036_854_775_807n] as const;
const ID = 'A'.repeat(43);
const times = (waitedMs: number, entitledMs = waitedMs) => ({ waitedMs, entitledMs });

async function issued(left = { progress, ...times(8_000) }) {
  const machine = { aheadMs: 0 };
  const results = memoryBucket(() => Date.now() - machine.aheadMs);
  const entitled = { ...wanted, entitlement: companies };
  const id = await issueTicket(results, entitled, PARAMETERS, left);
  return { machine, results, id, key: `waiting/${id}.json` };
}

describe('a ticket', () => {
  it('can be found by its id, and gives the request for which it was issued', async () => {
    const { results, id, key } = await issued();
    expect([...results.objects.keys()]).toEqual([key]);
    const { request, client } = wanted;
    const issuedFor = { id, request, entitlement: companies, ticket: { client, progress } };
    expect(await openTicket(results, id)).toMatchObject({ ...issuedFor, ...times(8_000) });
  });

  // Release 1.0.0 names no attempt, and tells by `miss` that the attempt was created for this caller.
  it.each<Progress>([
    progress,
    { ...progress, cacheStatus: 'miss', attempt: 'a' },
    slotProgress,
    { ...slotProgress, attempt: 'a', cacheStatus: 'collapsed' },
  ])('keeps the progress of the report: %o', async (given) => {
    const { results, id } = await issued({ progress: given, ...times(0) });
    expect((await openTicket(results, id)).ticket.progress).toEqual(given);
  });

  it('has an id of 256 random bits, different for each ticket', async () => {
    const results = memoryBucket();
    const one = () => issueTicket(results, wanted, PARAMETERS, { progress, ...times(0) });
    const ids = await Promise.all(Array.from({ length: 50 }, one));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it.each([0, 3, -3])('gives the caller’s times by S3’s clock, on a machine %d h ahead', async (hours) => {
    const { machine, results, id, key } = await issued({ progress, ...times(8_000, 2_000) });
    await vi.advanceTimersByTimeAsync(5_000);
    machine.aheadMs = hours * 3_600_000;
    vi.setSystemTime(Date.now() + machine.aheadMs);
    expect(await openTicket(results, id)).toMatchObject(times(13_000, 7_000));
    results.put(key, { ...(results.document(key) as object), entitledMs: undefined });
    expect(await openTicket(results, id)).toMatchObject(times(8_000));
  });

  it.each(['', 'x', '../jobs/1', `${ID}A`, `/${ID}`])(
    'is not looked up in S3 by the malformed id %j',
    async (id) => {
      const { results, key } = await issued();
      results.put(`waiting/${id}.json`, results.document(key));
      results.calls.length = 0;
      await expect(openTicket(results, id)).rejects.toThrow(NoSuchDownload);
      expect(results.calls).toEqual([]);
    },
  );

  it.each<[string, object]>([
    ['of the previous format version', { form: 1 }],
    ['of a report that does not exist', { report: 'nothing' }],
    ['whose companies are numbers', { companies: [1] }],
    ['with an empty list of companies', { companies: [] }],
    ['with a company that is no whole number', { companies: ['7', '7.5'] }],
    ['with a company that has no number', { companies: ['seven'] }],
    ['with a company beyond 64 bits', { companies: ['9223372036854775808'] }],
    ['with an unknown field', { parameters: { ...PARAMETERS, requestedFields: ['Day,Gone'] } }],
    ['with an unknown parameter', { parameters: { ...PARAMETERS, format: ['json'] } }],
    ['of a version of the API that has gone', { parameters: { ...PARAMETERS, 'api-version': ['0.9'] } }],
    ['without a window', { parameters: { requestedFields: ['Day'], 'api-version': ['1.0'] } }],
    ['with an unknown cache status', { progress: { ...progress, cacheStatus: 'stale' } }],
    ['with an attempt that is no text', { progress: { ...progress, attempt: 1 } }],
    ['without the data that its query reads', { progress: { ...progress, data: undefined } }],
    ['that waits for something unknown', { progress: { ...progress, waitsFor: 'nothing' } }],
    ['without the time that its caller has waited', { waitedMs: undefined }],
  ])('%s counts as absent', async (_, more) => {
    const { results, id, key } = await issued();
    results.put(key, { ...(results.document(key) as object), ...more });
    await expect(openTicket(results, id)).rejects.toThrow(NoSuchDownload);
  });
});

describe('updateTicket', () => {
  const later = { progress: { ...progress, dataChanges: 1 }, ...times(33_000) };

  it('writes nothing if only the time has changed', async () => {
    const { results, id } = await issued();
    const opened = await openTicket(results, id);
    await updateTicket(results, opened, companies, { progress: { ...progress }, ...times(33_000) });
    expect(results.callsOf('replace')).toEqual([]);
    await vi.advanceTimersByTimeAsync(33_000);
    // openTicket adds the age of the stored ticket, so no waited time is lost.
    expect((await openTicket(results, id)).waitedMs).toBe(41_000);
  });

  it('stores the companies whose rows the caller may see, if they have changed', async () => {
    const { results, id } = await issued();
    await updateTicket(results, await openTicket(results, id), [7n], { progress, ...times(8_000) });
    expect((await openTicket(results, id)).entitlement).toEqual([7n]);
  });

  it("does not undo another request's update", async () => {
    const { results, id } = await issued();
    const [first, second] = [await openTicket(results, id), await openTicket(results, id)];
    await updateTicket(results, first, companies, later);
    const other = { ...later.progress, dataChanges: 2 };
    await updateTicket(results, second, companies, { ...later, progress: other });
    expect((await openTicket(results, id)).ticket.progress).toEqual(later.progress);
  });
});
