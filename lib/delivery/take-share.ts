import { setTimeout as delay } from 'node:timers/promises';
import { RESULTS_PREFIX } from '../names.ts';
import { recordKey } from './order.ts';
import { readRecord } from './order-record.ts';
import type { Run } from './run.ts';
import { isUnderWay, judgeShare, type Lease, readLeases, type ShareRecord, shareKey } from './share.ts';

/** If requests of one client write its leases at one time, all but one try again, after random pauses up to this. */
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
    // The records of the leases are read only where it matters: a client below its limit costs no such reads.
    if (verdict.next === 'wait') verdict = judgeShare(await leasesUnderWay(run, held), lease, most);
    if (verdict.next !== 'take') return verdict.next === 'start';
    const document: ShareRecord = { form: 1, leases: [...verdict.leases] };
    const written = stored
      ? await backends.results.replace(stored, key, document)
      : await backends.results.create(key, document);
    if (written) return true;
    // Another request of the client was quicker. With no time left to try again, this one waits on for its share.
    if (Date.now() >= terms.waitUntil) return false;
    await delay(Math.random() * SPREAD_MS);
  }
}

/** Those of a client's leases whose queries have not ended. */
async function leasesUnderWay(
  { backends: { results }, wanted: { client } }: Run,
  held: readonly Lease[],
): Promise<Lease[]> {
  const hasEnded = await Promise.all(
    held.map(async (lease) => {
      const record = readRecord(await results.read(lease.record));
      if (!isUnderWay(lease, record, client, Date.now())) return true;
      // Nobody waits for the query any more, so nobody records its end. If its result is there, it has ended.
      const isLeft = record?.state === 'under-way' && record.askedUntil < Date.now();
      return (
        isLeft && (await results.head(`${RESULTS_PREFIX.athena}${record.executionId}.csv`)) !== undefined
      );
    }),
  );
  return held.filter((_, index) => !hasEnded[index]);
}
