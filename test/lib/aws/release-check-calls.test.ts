import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { versionInvoker } from '../../../lib/aws/invoke-version.ts';
import { secretReader } from '../../../lib/aws/read-secret.ts';
import { deploymentTeller } from '../../../lib/aws/tell-deployment.ts';
import { type AnsweringServer, startAnsweringServer } from './answering-server.ts';

let server: AnsweringServer;
/** The operation that was asked for last. */
let target: unknown;
beforeEach(async () => {
  server = await startAnsweringServer();
});
afterEach(() => server.close());

/** Answers the next requests with this JSON. */
const answering = (answer: object, more: Record<string, string> = {}) => {
  server.answer = ({ headers }, response) => {
    target = headers['x-amz-target'];
    response
      .writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1', ...more })
      .end(JSON.stringify(answer));
  };
};
const bodies = () => server.bodies.map((body) => JSON.parse(body));

describe('a version of a function', () => {
  const arn = 'arn:aws:lambda:eu-west-1:123456789012:function:reports:8';
  const event = { path: '/reporting/publisherperformance' } as APIGatewayProxyEvent;
  const answer = { statusCode: 303, headers: { Location: 'https://results.example/1' }, body: '' };

  it('gets the event, and its answer comes back', async () => {
    answering(answer);
    expect(await versionInvoker()(arn, event)).toEqual(answer);
    expect(server.requests.map(decodeURIComponent)).toEqual([
      `POST /2015-03-31/functions/${arn}/invocations`,
    ]);
    expect(bodies()).toEqual([event]);
  });

  it('makes the call throw an error with its answer when it fails', async () => {
    answering({ errorMessage: 'boom' }, { 'X-Amz-Function-Error': 'Unhandled' });
    await expect(versionInvoker()(arn, event)).rejects.toThrow(
      new Error(`${arn} fails: {"errorMessage":"boom"}`),
    );
  });

  it('makes the call throw an error when it fails without an answer, too', async () => {
    const client = { send: async () => ({ FunctionError: 'Unhandled' }) } as unknown as LambdaClient;
    await expect(versionInvoker(client)(arn, event)).rejects.toThrow(new Error(`${arn} fails: `));
  });

  it('is not waited for once the caller has given up', async () => {
    const caller = new AbortController();
    server.answer = (_, response) => {
      caller.abort();
      setTimeout(() => response.writeHead(200).end('{}'), 100);
    };
    await expect(versionInvoker()(arn, event, caller.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('CodeDeploy', () => {
  it.each(['Succeeded', 'Failed'] as const)('is told that its hook has %s', async (status) => {
    answering({});
    await deploymentTeller()({ DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' }, status);
    expect(target).toBe('CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus');
    expect(bodies()).toEqual([{ deploymentId: 'd-1', lifecycleEventHookExecutionId: 'hook-1', status }]);
  });
});

describe('a secret', () => {
  it.each(['{"clientId":"probe"}', ''])('is read by its id, as the text that it holds (%j)', async (text) => {
    answering({ Name: 'probe', SecretString: text });
    expect(await secretReader()('probe')).toBe(text);
    expect(target).toBe('secretsmanager.GetSecretValue');
    expect(bodies()).toEqual([{ SecretId: 'probe' }]);
  });

  it('is refused, by an error that names it, if it holds bytes instead of text', async () => {
    answering({ Name: 'probe', SecretBinary: 'AAEC' });
    await expect(secretReader()('probe')).rejects.toThrow('The secret probe holds no text');
  });
});
