import { setTimeout as pause } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type {
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  CloudFormationCustomResourceEvent,
} from 'aws-lambda';

/** The SDK repeats a call that Lambda throttles, with growing pauses: with these tries, for a minute or more. */
const INVOKE_TRIES = 12;

/** Invokes versions of functions as API Gateway does. Throws the SDK's errors, and an Error if the function fails. */
export const versionInvoker =
  (client = new LambdaClient({ maxAttempts: INVOKE_TRIES })) =>
  async (arn: string, event: APIGatewayProxyEvent, signal?: AbortSignal | null) => {
    const { Payload = [], FunctionError } = await client.send(
      new InvokeCommand({ FunctionName: arn, Payload: JSON.stringify(event) }),
      signal ? { abortSignal: signal } : {},
    );
    const answer = Buffer.from(Payload).toString();
    if (FunctionError) throw new Error(`${arn} fails: ${answer}`);
    return JSON.parse(answer) as APIGatewayProxyResult;
  };

export type InvokeVersion = ReturnType<typeof versionInvoker>;

/** Reads texts from AWS Secrets Manager, by name or ARN. Throws the SDK's errors. */
export function secretReader(client = new SecretsManagerClient()): (id: string) => Promise<string> {
  return async (id) => {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    if (SecretString === undefined) throw new Error(`The secret ${id} holds no text`);
    return SecretString;
  };
}

/**
 * CloudFormation's event to the function that serves a custom resource: the members that its answer needs. The answer
 * goes to `ResponseURL`, which is a secret: whoever has it can answer. So it is never logged.
 */
export type StackEvent = Pick<
  CloudFormationCustomResourceEvent,
  'RequestType' | 'ResponseURL' | 'StackId' | 'RequestId' | 'LogicalResourceId'
>;

export interface StackAnswer {
  readonly Status: 'SUCCESS' | 'FAILED';
  /** Shown to the operator, as the reason why the deployment failed. */
  readonly Reason: string;
  readonly Data: Readonly<Record<string, string>>;
}

const ANSWER_TRIES = 5;
const LONGEST_ANSWER_MS = 5_000;

/** Answers CloudFormation. Throws an Error, which does not name the address, after the last try. */
export const stackAnswerer =
  (fetch: typeof globalThis.fetch, pauseMs = 2_000) =>
  async ({ ResponseURL, StackId, RequestId, LogicalResourceId }: StackEvent, answer: StackAnswer) => {
    // With another physical id than before, CloudFormation would delete what has the id of before.
    const ids = { PhysicalResourceId: LogicalResourceId, StackId, RequestId, LogicalResourceId };
    for (let left = ANSWER_TRIES; ; left--) {
      const status = await fetch(ResponseURL, {
        method: 'PUT',
        body: JSON.stringify({ ...ids, ...answer }),
        // The address is signed for an empty type of content.
        headers: { 'Content-Type': '' },
        signal: AbortSignal.timeout(LONGEST_ANSWER_MS),
      }).then(
        (response) => response.status,
        (error: Error) => error.name,
      );
      if (status === 200) return;
      if (left === 1) throw new Error(`CloudFormation does not take the answer: ${status}`);
      await pause(pauseMs);
    }
  };
