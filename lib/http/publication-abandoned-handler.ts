import type { Context } from 'aws-lambda';
import { abandonPublication } from '../delivery/files.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { LOG_MS, type ObjectCreated } from './publication-handler.ts';

/**
 * Lambda's event for an asynchronous invocation whose last retry has failed: only the members that the function reads.
 */
export interface FailedInvocation {
  readonly requestContext: { readonly condition: string };
  readonly requestPayload: ObjectCreated;
}

/**
 * Tells the requests that wait for a large result that its publication has been given up. An alarm fires when this
 * function runs.
 */
export function abandonmentHandler({ backendsUntil, log }: FunctionDependencies) {
  return async (
    { requestPayload, requestContext }: FailedInvocation,
    context: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const { key } = requestPayload.detail.object;
    const { results } = backendsUntil(Date.now() + context.getRemainingTimeInMillis() - LOG_MS);
    const told = await abandonPublication(results, key);
    const { condition } = requestContext;
    log.error('publication abandoned', { publication: key, ...told, condition });
  };
}
