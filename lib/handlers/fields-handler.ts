import type { APIGatewayProxyResult } from 'aws-lambda';
import { describeFields } from '../openapi/describe-fields.ts';
import type { FunctionParts } from './function-parts.ts';
import { problemChain } from './problem-chain.ts';

/** GET /reporting/fields: the reports, their fields and the limits of a request, as JSON. Needs no token. */
export function fieldsHandler(parts: Pick<FunctionParts, 'config' | 'log' | 'metrics'>) {
  const body = JSON.stringify(describeFields(parts.config.currency));
  return problemChain(parts).handler(
    async (): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'public, max-age=300',
        // The gateway zips it for whoever admits that.
        Vary: 'Accept-Encoding',
      },
      body,
    }),
  );
}
