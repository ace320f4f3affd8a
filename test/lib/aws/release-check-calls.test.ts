import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { versionInvoker } from '../../../lib/aws/invoke-version.ts';
import { secretReader } from '../../../lib/aws/read-secret.ts';
import { deploymentTeller } from '../../../lib/aws/tell-deployment.ts';
import { type AnsweringServer, startAnsweringServer } from './answering-server.ts';

let server: AnsweringServer;
/** The operation of the last request. */
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

describe('a call to a version of a function', () => {
  const arn = 'arn:aws:lambda:eu-west-1:123456789012:function:reports:8';
  const event = { path: '/reporting/publisherperformance' } as APIGatewayProxyEvent;
  const answer = { statusCode: 303, headers: { Location: 'https://results.example/1' }, body: '' };

  it('sends the event and returns the version’s answer', async () => {
    answering(answer);
    expect(await versionInvoker()(arn, event)).toEqual(answer);
    expect(server.requests.map(decodeURIComponent)).toEqual([
      `POST /2015-03-31/functions/${arn}/invocations`,
    ]);
    expect(bodies()).toEqual([event]);
  });

  it('throws an error with the version’s answer if the version fails', async () => {
    answering({ errorMessage: 'boom' }, { 'X-Amz-Function-Error': 'Unhandled' });
    await expect(versionInvoker()(arn, event)).rejects.toThrow(
      new Error(`${arn} fails: {"errorMessage":"boom"}`),
    );
  });

  it('throws an error if the version fails without an answer', async () => {
    const client = { send: async () => ({ FunctionError: 'Unhandled' }) } as unknown as LambdaClient;
    await expect(versionInvoker(client)(arn, event)).rejects.toThrow(new Error(`${arn} fails: `));
  });

  it('ends once the caller has given up', async () => {
    const caller = new AbortController();
    server.answer = (_, response) => {
      caller.abort();
      setTimeout(() => response.writeHead(200).end('{}'), 100);
    };
    await expect(versionInvoker()(arn, event, caller.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('deploymentTeller', () => {
  it.each(['Succeeded', 'Failed'] as const)('reports to CodeDeploy that its hook has %s', async (status) => {
    answering({});
    await deploymentTeller()({ DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' }, status);
    expect(target).toBe('CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus');
    expect(bodies()).toEqual([{ deploymentId: 'd-1', lifecycleEventHookExecutionId: 'hook-1', status }]);
  });
});

describe('secretReader', () => {
  it.each(['{"clientId":"probe"}', ''])(
    'reads a secret by its id, as the text that it holds (%j)',
    async (text) => {
      answering({ Name: 'probe', SecretString: text });
      expect(await secretReader()('probe')).toBe(text);
      expect(target).toBe('secretsmanager.GetSecretValue');
      expect(bodies()).toEqual([{ SecretId: 'probe' }]);
    },
  );

  it('reads the secret again for each call, so that a new secret is used at once', async () => {
    const read = secretReader();
    answering({ Name: 'probe', SecretString: 'old' });
    await read('probe');
    answering({ Name: 'probe', SecretString: 'new' });
    expect(await read('probe')).toBe('new');
  });

  it('refuses a secret that holds bytes instead of text, with an error that names the secret', async () => {
    answering({ Name: 'probe', SecretBinary: 'AAEC' });
    await expect(secretReader()('probe')).rejects.toThrow('The secret probe holds no text');
  });
});
