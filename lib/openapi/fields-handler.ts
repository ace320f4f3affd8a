import type { APIGatewayProxyResult } from 'aws-lambda';
import type { FunctionDependencies } from '../http/function-dependencies.ts';
import { problemChain } from '../http/problem-chain.ts';
import { describeFields } from './describe-fields.ts';

/** GET /reporting/fields: the reports, their fields and the limits of a request, as JSON. Needs no token. */
export function fieldsHandler(dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) {
  const body = JSON.stringify(describeFields(dependencies.config));
  return problemChain(dependencies).handler(
    async (): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'public, max-age=300',
        // The gateway gzips the body for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body,
    }),
  );
}
