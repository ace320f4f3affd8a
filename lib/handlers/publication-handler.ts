import type { DeliveryParts } from '../delivery/deliver-report.ts';
import { fulfilOrder } from '../delivery/large-publication.ts';
import type { LineLog } from './request-log.ts';

/** EventBridge's notice that an object has been made, as far as it is read here. */
export interface ObjectCreated {
  readonly detail: { readonly object: { readonly key: string } };
}

/** Publishes a large result; started by its order's arrival in the results bucket. Writes one line of log. */
export function publicationHandler({ results, log }: DeliveryParts & { readonly log: LineLog }) {
  return async ({ detail }: ObjectCreated): Promise<void> => {
    const began = Date.now();
    const facts = () => ({ orderKey: detail.object.key, durationMs: Date.now() - began });
    try {
      const published = await fulfilOrder(results, detail.object.key);
      log.info('publication', {
        ...facts(),
        queryExecutionId: published?.execution.id,
        isPublished: !!published,
      });
    } catch (error) {
      log.error('publication', { ...facts(), error });
      throw error;
    }
  };
}
