import { type Delivery, PublicationFailed, tookTooLong } from './delivery.ts';
import { fileKey } from './order.ts';
import type { SucceededRecord } from './order-record.ts';
import { awaitPublication, isLarge, publish, zippedKey } from './publication.ts';
import { follow, publicationOf, type Run, ready, waiting } from './run.ts';

/**
 * Delivers the report of an execution that is recorded as succeeded, and publishes it again where its file is gone.
 * Undefined where another try has to answer: the engine's result is gone too, or its publication was given up before
 * this request came. Throws PublicationFailed where it was given up while this request waited.
 */
export async function deliverFile(run: Run, record: SucceededRecord): Promise<Delivery | undefined> {
  const { results } = run.backends;
  const key = fileKey(run.order, record.executionId);
  // The zipped file is whole and all that this caller needs: no look-up of the plain one.
  if (run.terms.admitsGzip && (await results.head(zippedKey(key)))) return ready(run, record, zippedKey(key));
  if (await results.head(key)) return ready(run, record);
  const publication = publicationOf(run, record);
  if (!isLarge(record.resultBytes))
    return (await publish(results, publication)) ? ready(run, record) : undefined;
  switch (await awaitPublication(results, publication, run.terms.waitUntil)) {
    case 'published':
      return ready(run, record);
    case 'under-way':
      if (Date.now() >= run.terms.publishUntil) throw tookTooLong();
      follow(run, record.token);
      return waiting(run, record.token);
    case 'abandoned':
      if (run.follows !== record.token) return undefined;
      throw new PublicationFailed(`the result of query ${record.executionId} was not published`);
  }
}
