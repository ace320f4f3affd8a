import type { APIGatewayProxyResult } from 'aws-lambda';
import { DOCUMENTS_PATH } from '../names.ts';
import { NotFound } from '../problems/problem.ts';
import { ROUTE_METHODS } from '../routes.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';

/**
 * Redirects `/docs/` to `/docs`. Answers 404 for any other path that no route has, and for any method that a path does
 * not accept, with or without a token. API Gateway's own answer to such a request with a bearer token would be a 403
 * about AWS signatures.
 */
export const notFoundHandler = (dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) =>
  problemChain(dependencies).handler(
    async ({ httpMethod, requestContext }): Promise<APIGatewayProxyResult> => {
      // For API Gateway, `/docs/` is another path than `/docs`. The relative URL holds below the base path of a stage too.
      if (!requestContext.path.endsWith(`${DOCUMENTS_PATH}/`) || !ROUTE_METHODS.includes(httpMethod))
        throw new NotFound();
      return { statusCode: 308, headers: { Location: `..${DOCUMENTS_PATH}` }, body: '' };
    },
  );
