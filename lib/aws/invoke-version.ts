import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** Invokes a version of a function, by its ARN. Throws an Error if the function fails. */
export type InvokeVersion = (
  arn: string,
  event: APIGatewayProxyEvent,
  signal?: AbortSignal | null,
) => Promise<APIGatewayProxyResult>;

/** The SDK repeats a call that Lambda throttles, with growing pauses: with these tries, for a minute or more. */
const TRIES = 12;

/** Invokes versions of functions as API Gateway does. Throws the SDK's errors, and an Error if the function fails. */
export function versionInvoker(client = new LambdaClient({ maxAttempts: TRIES })): InvokeVersion {
  return async (arn, event, signal) => {
    const { Payload = [], FunctionError } = await client.send(
      new InvokeCommand({ FunctionName: arn, Payload: JSON.stringify(event) }),
      signal ? { abortSignal: signal } : {},
    );
    const answer = Buffer.from(Payload).toString();
    if (FunctionError) throw new Error(`${arn} fails: ${answer}`);
    return JSON.parse(answer);
  };
}
