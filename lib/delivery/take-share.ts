import { setTimeout as delay } from 'node:timers/promises';
import { RESULTS_PREFIX } from '../names.ts';
import { recordKey } from './order.ts';
import { readRecord } from './order-record.ts';
import type { Run } from './run.ts';
import { isUnderWay, judgeShare, type Lease, readLeases, type ShareRecord, shareKey } from './share.ts';

/** A client's requests that write its leases at one time try again at different ones, within so many milliseconds. */
const SPREAD_MS = 100;

/**
 * Takes the lease that a try needs, before it is claimed. Resolves to false, with nothing taken, while as many of the
 * client's queries are under way as may be.
 *
 * @param after the token of the try before
 */
export async function takeShare(run: Run, after: string | undefined): Promise<boolean> {
  const { backends, wanted, terms } = run;
  const most = terms.queriesPerPartner;
  if (most === 0) return true;
  const key = shareKey(wanted.client);
  for (;;) {
    const stored = await backends.results.read(key);
    const takenAt = Date.now();
    const record = recordKey(run.order, run.data);
    const lease: Lease = { record, after, takenAt, until: takenAt + terms.longestQueryMs };
    const held = readLeases(stored);
    let verdict = judgeShare(held, lease, most);
    // Looked at only where it matters: who has a share left asks nothing about the rest.
    if (verdict.next === 'wait') verdict = judgeShare(await underWay(run, held), lease, most);
    if (verdict.next !== 'take') return verdict.next === 'start';
    const document: ShareRecord = { form: 1, leases: [...verdict.leases] };
    const written = stored
      ? await backends.results.replace(stored, key, document)
      : await backends.results.create(key, document);
    if (written) return true;
    // Many of the client's requests at one time: with no time left, this one waits on.
    if (Date.now() >= terms.waitUntil) return false;
    await delay(Math.random() * SPREAD_MS);
  }
}

/** Those of a client's leases whose queries have not ended. */
async function underWay(
  { backends: { results }, wanted: { client } }: Run,
  held: readonly Lease[],
): Promise<Lease[]> {
  const hasEnded = await Promise.all(
    held.map(async (lease) => {
      const record = readRecord(await results.read(lease.record));
      if (!isUnderWay(lease, record, client, Date.now())) return true;
      // Nobody waits for it any more, so that nobody has recorded its end: its result tells.
      const isLeft = record?.state === 'under-way' && record.askedUntil < Date.now();
      return (
        isLeft && (await results.head(`${RESULTS_PREFIX.athena}${record.executionId}.csv`)) !== undefined
      );
    }),
  );
  return held.filter((_, index) => !hasEnded[index]);
}
