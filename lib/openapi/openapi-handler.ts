import type { APIGatewayProxyResult } from 'aws-lambda';
import { scopeOf } from '../access/verify-token.ts';
import type { FunctionDependencies } from '../http/function-dependencies.ts';
import { problemChain } from '../http/problem-chain.ts';
import { serviceUrl } from '../http/service-url.ts';
import { pathOf } from '../routes.ts';
import { OPENAPI_MEDIA_TYPE, openApiDocument } from './document.ts';

/**
 * GET /openapi.json: the service described in OpenAPI 3.1, with the URL at which this caller reached it. Needs no
 * token.
 */
export function openApiHandler(dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) {
  const { config } = dependencies;
  return problemChain(dependencies).handler(
    async (event): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': OPENAPI_MEDIA_TYPE,
        // Shared caches must not store the document, because it holds the URL at which this caller reached the service.
        'Cache-Control': 'private, max-age=300',
        // The gateway gzips the body for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body: JSON.stringify(
        // If the gateway does not name the host, the URL is `/`, the root of the host that serves the document.
        openApiDocument({
          url: serviceUrl(event, pathOf('openapi')) ?? '/',
          scope: scopeOf(config.token),
          commit: config.commit,
        }),
      ),
    }),
  );
}
