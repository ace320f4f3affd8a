import type { Context } from 'aws-lambda';
import { abandonPublication, publishLarge } from '../delivery/publication.ts';
import { type Publication, readPublication } from '../results/publication-request.ts';
import type { LargeFiles } from '../results/results-bucket.ts';
import type { FunctionDependencies } from './function-dependencies.ts';

/** EventBridge's event for a new object. */
export interface ObjectCreated {
  readonly detail: { readonly object: { readonly key: string } };
}

type TimedContext = Pick<Context, 'getRemainingTimeInMillis'>;

/** How much of a function's time is kept free for writing the log line. */
const LOG_MS = 5_000;

/** Publishes a large result when `publications/` gets a new object. Throws, so that Lambda tries again. */
export function publicationHandler({
  backendsUntil,
  largeFilesUntil,
  log,
}: FunctionDependencies & { readonly largeFilesUntil: (until: number) => LargeFiles }) {
  return async ({ detail }: ObjectCreated, context: TimedContext) => {
    const began = Date.now();
    const { key } = detail.object;
    let publication: Publication | undefined;
    const facts = () => ({
      publication: key,
      durationMs: Date.now() - began,
      ...(publication && { queryExecutionId: publication.executionId, partner: publication.partner }),
    });
    try {
      const until = began + context.getRemainingTimeInMillis() - LOG_MS;
      const results = { ...backendsUntil(until).results, ...largeFilesUntil(until) };
      publication = await readPublication(results, key);
      if (!publication) throw new Error(`there is no publication ${key} that can be read`);
      if (!(await publishLarge(results, publication)))
        throw new Error(`the result of query ${publication.executionId} is gone`);
      log.info('publication', facts());
    } catch (error) {
      log.error('publication', { ...facts(), error });
      throw error;
    }
  };
}

/** Lambda's event for an asynchronous invocation whose last retry has failed. */
export interface FailedInvocation {
  readonly requestContext: { readonly condition: string };
  readonly requestPayload: ObjectCreated;
}

/** Tells the requests that wait for a large result that its publication is given up. An alarm fires when this runs. */
export function abandonmentHandler({ backendsUntil, log }: FunctionDependencies) {
  return async ({ requestPayload, requestContext }: FailedInvocation, context: TimedContext) => {
    const { key } = requestPayload.detail.object;
    const { results } = backendsUntil(Date.now() + context.getRemainingTimeInMillis() - LOG_MS);
    const facts = await abandonPublication(results, key);
    const { condition } = requestContext;
    log.error('publication abandoned', { publication: key, ...facts, condition });
  };
}
