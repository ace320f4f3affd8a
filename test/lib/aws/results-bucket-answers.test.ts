import { GetQueryExecutionCommand } from '@aws-sdk/client-athena';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AwsCallFailed, dateOf } from '../../../lib/aws/answers.ts';
import { s3LargeFiles } from '../../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import type { ResultsBucket } from '../../../lib/results/results-bucket.ts';
import { type AnsweringServer, startAnsweringServer } from './answering-server.ts';

let server: AnsweringServer;
beforeEach(async () => {
  server = await startAnsweringServer();
});
afterEach(() => server.close());

const results = (callerWaitMs = 10_000) =>
  s3ResultsBucket(server.clients.s3, 'results', Date.now() + callerWaitMs);

describe('the age of an object', () => {
  const written = 'Fri, 02 Jan 2026 03:04:05 GMT';

  it.each([
    ['the time between the two dates of the answer', { Date: 'Fri, 02 Jan 2026 04:05:07 GMT' }, 3_662_000],
    ['zero in the second in which it was written', { Date: written }, 0],
    ['zero if the dates are in the wrong order', { Date: 'Fri, 02 Jan 2026 03:04:04 GMT' }, 0],
  ])('is %s, whatever the clock of this machine says', async (_, headers, ageMs) => {
    server.answer = ({ method }, response) =>
      void response
        .writeHead(200, { 'Last-Modified': written, ETag: '"1"', 'Content-Length': 2, ...headers })
        .end(method === 'HEAD' ? undefined : '{}');
    expect(await results().head('jobs/1.json')).toEqual({ bytes: 2, ageMs });
    expect(await results().read('jobs/1.json')).toEqual({ document: {}, etag: '"1"', ageMs });
    expect(server.requests).toEqual(['HEAD /results/jobs/1.json', 'GET /results/jobs/1.json']);
  });

  it('is zero if S3 gives no Last-Modified', async () => {
    server.answer = (_, response) => void response.writeHead(200, { Date: written, ETag: '"1"' }).end();
    expect((await results().head('jobs/1.json'))?.ageMs).toBe(0);
  });
});

const was = { document: {}, etag: '"1"', ageMs: 0 };

describe('an answer of AWS', () => {
  const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';
  const AT = Date.parse(DATE);
  const get = (Key: string) => server.clients.s3.send(new GetObjectCommand({ Bucket: 'results', Key }));

  it('says when AWS gave it, even when one client makes several calls at once', async () => {
    server.answer = ({ url = '' }, response) => {
      const second = /second-(\d)/.exec(url)?.[1] ?? '5';
      response.writeHead(200, { Date: DATE.replace('05 GMT', `0${second} GMT`) }).end('{}');
    };
    const answers = await Promise.all([1, 2, 3].map((second) => get(`second-${second}`)));
    expect(answers.map(dateOf)).toEqual([AT - 4_000, AT - 3_000, AT - 2_000]);
    const command = new GetQueryExecutionCommand({ QueryExecutionId: 'q1' });
    expect(dateOf(await server.clients.athena.send(command))).toBe(AT);
  });

  it.each([{}, { Date: 'yesterday' }])(
    'counts as given now if its date can not be read: %j',
    async (headers) => {
      server.answer = (_, response) => void response.writeHead(200, headers).end();
      const answer = await get('a');
      vi.useFakeTimers({ now: AT, toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      expect(dateOf(answer)).toBe(AT);
    },
  );
});

describe('an answer of S3 that lacks a header or a body', () => {
  beforeEach(() => {
    server.answer = (_, response) => void response.writeHead(200).end();
  });

  it.each<[string, () => Promise<unknown>, unknown]>([
    ['head', () => results().head('jobs/1.json'), { bytes: 0, ageMs: 0 }],
    [
      'readResult',
      () => results().readResult('s3://results/athena/q1.csv', 9),
      { bytes: 0, content: new Uint8Array() },
    ],
  ])('is accepted by %s, which takes missing parts as empty or zero', async (_, make, expected) => {
    expect(await make()).toEqual(expected);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['read', () => results().read('jobs/1.json')],
    ['create', () => results().create('jobs/1.json', { a: 1 })],
  ])('makes %s throw if the missing header is the ETag, since later writes need it', async (_, make) => {
    await expect(make()).rejects.toMatchObject({ cause: { message: 'S3 answered without an ETag' } });
  });

  it.each<[string, (bucket: ResultsBucket) => Promise<unknown>, unknown]>([
    ['read', (bucket) => bucket.read('jobs/1.json'), { document: undefined, etag: '"1"', ageMs: 0 }],
    ['readResult', (bucket) => bucket.readResult('s3://results/athena/q1.csv', 9), { bytes: 0 }],
  ])('is accepted by %s even without a body', async (_, make, expected) => {
    const s3 = { send: async () => ({ ETag: '"1"' }) } as unknown as S3Client;
    expect(await make(s3ResultsBucket(s3, 'results', Date.now() + 1_000))).toEqual(expected);
  });
});

describe('the write of a document whose answer is lost', () => {
  const ours = { writer: 'w1' };
  const writes = [
    ['create', () => results().create('jobs/1.json', ours)],
    ['replace', () => results().replace(was, 'jobs/1.json', ours)],
  ] as const;
  /** Breaks the first connection if `isLost`, refuses each further write, and shows what is stored. */
  const answerWith = (stored: object | undefined, isLost: boolean) => {
    let writes = 0;
    server.answer = ({ method }, response) => {
      if (method === 'PUT' && isLost && writes++ === 0) return void response.destroy();
      if (method === 'PUT') return void response.writeHead(412).end();
      if (stored) return void response.writeHead(200, { ETag: '"2"' }).end(JSON.stringify(stored));
      response.writeHead(404, { 'Content-Type': 'application/xml' });
      response.end('<Error><Code>NoSuchKey</Code><Message>x</Message></Error>');
    };
  };

  it.each(writes)('counts as done if its text is stored: %s', async (_, write) => {
    answerWith(ours, true);
    expect(await write()).toEqual({ document: ours, etag: '"2"', ageMs: 0 });
  });

  it.each<[string, object | undefined, boolean]>([
    ['another text is stored', { writer: 'w2' }, true],
    ['nothing is stored any more', undefined, true],
    ['it was refused at the first try', ours, false],
  ])('does not count as done if %s', async (_, stored, isLost) => {
    for (const [, write] of writes) {
      answerWith(stored, isLost);
      expect(await write()).toBeUndefined();
    }
    expect(server.requests.length).toBe(isLost ? 6 : 2);
  });
});

describe('a call to an S3 that does not answer', () => {
  const file = { fileName: 'report.csv', executionId: 'q1' };
  const LOCATION = 's3://results/athena/q1.csv';
  /** Its calls end only when their signal aborts them. */
  const silent = {
    send: (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
      new Promise((_, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason))),
  } as unknown as S3Client;
  const soon = () => Date.now() + 50;
  const write = (bucket: ResultsBucket) => bucket.writeFile('reports/q1/report.csv', file, Buffer.from('a'));

  it.each<[string, string, (bucket: ResultsBucket) => Promise<unknown>]>([
    ['head', 'HeadObject', (bucket) => bucket.head('jobs/1.json')],
    ['read', 'GetObject', (bucket) => bucket.read('jobs/1.json')],
    ['create', 'PutObject', (bucket) => bucket.create('jobs/1.json', {})],
    ['replace', 'PutObject', (bucket) => bucket.replace(was, 'jobs/1.json', {})],
    ['readResult', 'GetObject', (bucket) => bucket.readResult(LOCATION, 9)],
    ['writeFile', 'PutObject', write],
    ['openResult', 'GetObject', () => s3LargeFiles(silent, 'results', soon()).openResult(LOCATION)],
  ])('is aborted when its time is up: %s, and the error names %s', async (_, operation, make) => {
    const failure = { constructor: Overloaded, cause: { operation: `S3 ${operation}` } };
    await expect(make(s3ResultsBucket(silent, 'results', soon()))).rejects.toMatchObject(failure);
  });

  it.each<[string, (bucket: ResultsBucket) => Promise<unknown>]>([
    ['readResult', (bucket) => bucket.readResult(LOCATION, 9)],
    ['writeFile', write],
  ])('has five seconds for a try if it moves content: %s', async (_, make) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeout.mockRestore());
    server.answer = (_, response) => void response.writeHead(403).end();
    await expect(make(results(60_000))).rejects.toThrow(AwsCallFailed);
    expect(timeout.mock.calls).toEqual([[5_000]]);
  });
});

describe('an answer of S3 that is not read to its end', () => {
  /** Begins a body of ten bytes and sends no more. */
  const halfAnswer: AnsweringServer['answer'] = (_, response) =>
    void response.writeHead(200, { ETag: '"1"', 'Content-Length': 10 }).write('{"a":');

  it.each<[string, () => Promise<unknown>]>([
    ['read', () => results(300).read('jobs/1.json')],
    ['readResult', () => results(300).readResult('s3://results/athena/q1.csv', 10)],
  ])('makes `%s` give up in time if the rest does not come', async (_, make) => {
    server.answer = halfAnswer;
    await expect(make()).rejects.toThrow(Overloaded);
  });
  it('makes `read` repeat its request if the connection breaks', async () => {
    server.answer = (request, response) => {
      halfAnswer(request, response);
      server.answer = (_, next) => void next.writeHead(200, { ETag: '"2"' }).end('{"a":1}');
      setImmediate(() => response.destroy());
    };
    expect(await results().read('jobs/1.json')).toMatchObject({ document: { a: 1 }, etag: '"2"' });
    expect(server.requests).toHaveLength(2);
  });

  it('keeps no connection open if the result is larger than the caller allows', async () => {
    const size = 50_000_000;
    const closed = new Promise<boolean>((resolve) => {
      server.answer = (_, response) => {
        response.on('close', () => resolve(response.writableFinished));
        response.writeHead(200, { 'Content-Length': size }).end(Buffer.alloc(size));
      };
    });
    expect(await results().readResult('s3://results/athena/q1.csv', 9)).toEqual({ bytes: size });
    // It was closed before all was sent, and not by the time limit of the try, which is five seconds.
    expect(await Promise.race([closed, new Promise((end) => setTimeout(end, 3_000))])).toBe(false);
  });
});
