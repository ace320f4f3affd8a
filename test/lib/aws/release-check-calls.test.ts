import { inspect } from 'node:util';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { secretReader, stackAnswerer, versionInvoker } from '../../../lib/aws/release-calls.ts';
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

  it('waits while Lambda throttles, for longer than the SDK’s usual three tries', async () => {
    // The SDK's pauses are random parts of a time.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    let throttled = 3;
    server.answer = (_, response) => {
      if (throttled-- > 0)
        response.writeHead(429, { 'X-Amzn-ErrorType': 'TooManyRequestsException', 'Retry-After': '0' }).end();
      else response.writeHead(200).end(JSON.stringify(answer));
    };
    expect(await versionInvoker()(arn, event)).toEqual(answer);
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

describe('an answer to CloudFormation', () => {
  const ids = { StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Gate' };
  const ResponseURL = 'https://answers.example/?X-Amz-Signature=s3cret';
  const verdict = { Status: 'FAILED', Reason: 'no report', Data: {} } as const;

  it.each<[string, (number | string)[], number, string?]>([
    ['is put to its address, under the id that the resource has had before', [200], 1],
    ['is put again if the address does not take it', [503, 'fetch failed', 200], 3],
    ['is given up after five tries, with an error that hides the address', Array(9).fill(403), 5, '403'],
  ])('%s', async (_, statuses, tries, fault) => {
    const put: unknown[] = [];
    const fetch = async (url: unknown, init?: RequestInit) => {
      put.push({ url, ...init, signal: undefined });
      const status = statuses[put.length - 1];
      if (typeof status === 'string') throw new TypeError(status);
      return new Response('', { status: status ?? 501 });
    };
    const error = await stackAnswerer(fetch as typeof globalThis.fetch, 0)(
      { ...ids, ResponseURL, RequestType: 'Update' },
      verdict,
    ).catch((thrown: Error) => thrown);
    expect(error?.message).toEqual(fault && `CloudFormation does not take the answer: ${fault}`);
    expect(inspect(error, { depth: 9 })).not.toContain('s3cret');
    const body = JSON.stringify({ PhysicalResourceId: 'Gate', ...ids, ...verdict });
    const request = { url: ResponseURL, method: 'PUT', body, headers: { 'Content-Type': '' } };
    expect(put).toEqual(Array(tries).fill(request));
  });
});

describe('secretReader', () => {
  it('reads the text of a secret by its id, again for each call, so that a new secret is used at once', async () => {
    const read = secretReader();
    for (const SecretString of ['{"clientId":"probe"}', '']) {
      answering({ Name: 'probe', SecretString });
      expect(await read('probe')).toBe(SecretString);
    }
    expect(target).toBe('secretsmanager.GetSecretValue');
    expect(bodies().at(-1)).toEqual({ SecretId: 'probe' });
  });

  it('refuses a secret that holds bytes instead of text, with an error that names the secret', async () => {
    answering({ Name: 'probe', SecretBinary: 'AAEC' });
    await expect(secretReader()('probe')).rejects.toThrow('The secret probe holds no text');
  });
});
