import type { APIGatewayProxyResult } from 'aws-lambda';
import { scopeOf } from '../access/verify-token.ts';
import type { FunctionDependencies } from '../http/function-dependencies.ts';
import { problemChain } from '../http/problem-chain.ts';
import { serviceUrl } from '../http/service-url.ts';
import { pathOf } from '../routes.ts';
import { OPENAPI_MEDIA_TYPE, openApiDocument } from './document.ts';

/**
 * GET /openapi.json: the service described in OpenAPI 3.1, with the address at which the caller has found it.
 * Needs no token.
 */
export function openApiHandler(dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) {
  const { config } = dependencies;
  return problemChain(dependencies).handler(
    async (event): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': OPENAPI_MEDIA_TYPE,
        // Not for shared caches: the document holds the address by which this caller has reached the service.
        'Cache-Control': 'private, max-age=300',
        // The gateway gzips it for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body: JSON.stringify(
        // `/`, the root of the serving host, if the gateway does not name the host.
        openApiDocument({
          url: serviceUrl(event, pathOf('openapi')) ?? '/',
          scope: scopeOf(config.token),
          commit: config.commit,
        }),
      ),
    }),
  );
}
