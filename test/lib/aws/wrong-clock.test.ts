import type { ServerResponse } from 'node:http';
import type { S3Client } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsCallFailed } from '../../../lib/aws/answers.ts';
import { athenaQueries } from '../../../lib/aws/athena-queries.ts';
import { makeUploadClient } from '../../../lib/aws/clients.ts';
import { s3LargeFiles } from '../../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { type AnsweringServer, startAnsweringServer } from './answering-server.ts';

const HOUR = 3_600_000;
/** A whole second, because the header `Date` holds no fractions. */
const AWS_TIME = Date.UTC(2026, 0, 2, 3, 4, 5);
/** S3 refuses a request whose time is more than 15 minutes off, Athena one of more than 5 minutes. */
const ACCEPTED_MS = { s3: 900_000, athena: 300_000 };

/** Sets this machine's clock ahead by this many milliseconds; behind, if negative. */
const setClockWrongBy = (ms: number) => vi.setSystemTime(AWS_TIME + ms);

let server: AnsweringServer;
let uploads: S3Client;
/** For each request: whether AWS refused its time. */
let refused: boolean[];
/** Answers a request whose time is right. */
let accept: (response: ServerResponse) => void;

beforeEach(async () => {
  vi.useFakeTimers({ now: AWS_TIME, toFake: ['Date'] });
  refused = [];
  accept = (response) => void response.writeHead(200, { ETag: '"1"' }).end('{}');
  open.mockClear();
  server = await startAnsweringServer();
  uploads = makeUploadClient();
  server.answer = (request, response) => {
    response.setHeader('Date', new Date(AWS_TIME).toUTCString());
    const accepted = ACCEPTED_MS[request.headers['x-amz-target'] ? 'athena' : 's3'];
    const isRefused = Math.abs(timeOf(String(request.headers['x-amz-date'])) - AWS_TIME) > accepted;
    refused.push(isRefused);
    if (!isRefused) accept(response);
    else if (request.headers['x-amz-target']) {
      response.writeHead(400, { 'X-Amzn-ErrorType': 'InvalidSignatureException' });
      response.end('{"__type":"InvalidSignatureException","Message":"Signature expired"}');
    } else {
      response.writeHead(403, { 'Content-Type': 'application/xml' });
      const error = '<Error><Code>RequestTimeTooSkewed</Code><Message>x</Message></Error>';
      response.end(request.method === 'HEAD' ? undefined : error);
    }
  };
  return async () => {
    vi.useRealTimers();
    uploads.destroy();
    await server.close();
  };
});

/** The time of a text such as `20260102T030405Z`. */
function timeOf(text: string): number {
  const [year = 0, month = 0, ...others] = (text.match(/^\d{4}|\d\d/g) ?? []).map(Number);
  return Date.UTC(year, month - 1, ...others);
}

const later = () => Date.now() + 10_000;
const file = { fileName: 'report.csv', executionId: 'q1' };
const LOCATION = 's3://results/athena/q1.csv';

/** Opens the content of a large report of four bytes. */
const open = vi.fn(async () =>
  (async function* () {
    yield Buffer.from('a,b\n');
  })(),
);

const results = () => s3ResultsBucket(server.clients.s3, 'results', later());
const queries = () =>
  athenaQueries(server.clients.athena, { database: 'reports', workgroup: 'service' }, later());

const calls: [string, () => Promise<unknown>][] = [
  ['head', () => results().head('jobs/1.json')],
  ['read', () => results().read('jobs/1.json')],
  ['writeFile with a single try', () => results().writeFile('reports/1/a.csv', file, Buffer.from('a'), 1)],
  ['get', () => queries().get('q1')],
];

describe('on a machine whose clock is two hours ahead', () => {
  beforeEach(() => void setClockWrongBy(2 * HOUR));

  it.each(calls)('the first call gets its answer by a second request: %s', async (_, make) => {
    await make();
    expect(refused).toEqual([true, false]);
  });

  it('later calls need no second request', async () => {
    await results().read('jobs/1.json');
    refused = [];
    for (const [, make] of calls.slice(0, 3)) await make();
    expect(new Set(refused)).toEqual(new Set([false]));
  });

  it('a refusal with another cause is thrown after the one request that corrects the clock', async () => {
    accept = (response) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    const failure = { constructor: AwsCallFailed, httpStatus: 403 };
    await expect(results().read('jobs/1.json')).rejects.toMatchObject(failure);
    await expect(results().read('jobs/1.json')).rejects.toThrow('S3 GetObject: AccessDenied');
    expect(refused).toEqual([true, false, false]);
  });

  it('a large report is uploaded', async () => {
    expect(await s3LargeFiles(uploads, 'results', later()).uploadFile('reports/1/a.csv', file, open)).toBe(4);
    expect([refused, open.mock.calls.length]).toEqual([[true, false], 1]);
  });
});

it('on a machine whose clock is six minutes ahead, Athena answers by a second request', async () => {
  setClockWrongBy(HOUR / 10);
  await results().head('jobs/1.json');
  await queries().get('q1');
  expect(refused).toEqual([false, true, false]);
});

describe('a refusal of the time', () => {
  it('is thrown after one more request if the client does not learn the time from it', async () => {
    const { answer } = server;
    server.answer = (request, response) => {
      // The SDK takes no time from an answer that a cache has kept.
      response.setHeader('Age', '1');
      answer(request, response);
    };
    setClockWrongBy(2 * HOUR);
    await expect(results().read('jobs/1.json')).rejects.toThrow('S3 GetObject: RequestTimeTooSkewed');
    expect(refused).toEqual([true, true]);
  });
});

describe('on a machine whose clock is set', () => {
  it.each([
    ['wrong', 0, -2 * HOUR],
    ['from ahead to behind', 2 * HOUR, -2 * HOUR],
  ])('%s while a function lives, calls get their answers and links S3’s time', async (_, before, after) => {
    setClockWrongBy(before);
    await results().read('jobs/1.json');
    refused = [];
    setClockWrongBy(after);
    await results().head('jobs/1.json');
    expect(refused).toEqual([true, false]);
    const url = new URL(await results().presign('reports/1/a.csv', 300, 1));
    expect(timeOf(url.searchParams.get('X-Amz-Date') ?? '')).toBe(AWS_TIME);
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
  });

  it('right again, a large report is uploaded from its start', async () => {
    setClockWrongBy(2 * HOUR);
    await s3LargeFiles(uploads, 'results', later()).openResult(LOCATION);
    refused = [];
    setClockWrongBy(0);
    expect(await s3LargeFiles(uploads, 'results', later()).uploadFile('reports/1/a.csv', file, open)).toBe(4);
    expect([refused, open.mock.calls.length, server.bodies.at(-1)]).toEqual([[true, false], 2, 'a,b\n']);
  });
});
