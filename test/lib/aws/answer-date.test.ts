import { GetQueryExecutionCommand, StartQueryExecutionCommand } from '@aws-sdk/client-athena';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dateOf } from '../../../lib/aws/answers.ts';
import type { Clients } from '../../../lib/aws/clients.ts';
import { type AnsweringServer, startAnsweringServer } from './answering-server.ts';

/** A time that is far from the clock of the machine that runs the test. */
const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';
const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const Bucket = 'results';

let server: AnsweringServer;
beforeEach(async () => {
  server = await startAnsweringServer();
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const answering = (headers: Record<string, string>, body = '') => {
  server.answer = ({ method }, response) =>
    void response.writeHead(200, headers).end(method === 'HEAD' ? undefined : body);
};

describe('the answers that the AWS clients get', () => {
  it.each<[string, (clients: Clients) => Promise<Parameters<typeof dateOf>[0]>]>([
    ['HeadObject', ({ s3 }) => s3.send(new HeadObjectCommand({ Bucket, Key: 'a' }))],
    ['GetObject', ({ s3 }) => s3.send(new GetObjectCommand({ Bucket, Key: 'a' }))],
    ['PutObject', ({ s3 }) => s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'b' }))],
    ['Get…', ({ athena }) => athena.send(new GetQueryExecutionCommand({ QueryExecutionId: 'q1' }))],
    ['Start…', ({ athena }) => athena.send(new StartQueryExecutionCommand({ QueryString: 'x' }))],
  ])('say when AWS gave them: %s', async (_, send) => {
    answering({ Date: DATE }, '{}');
    expect(dateOf(await send(server.clients))).toBe(AT);
  });

  it('each carry their own date, even when one client makes several calls at once', async () => {
    server.answer = ({ url = '' }, response) => {
      const second = /second-(\d)/.exec(url)?.[1];
      response.writeHead(200, { Date: DATE.replace('05 GMT', `0${second} GMT`) }).end();
    };
    const dates = await Promise.all(
      [1, 2, 3].map(async (second) => {
        const command = new GetObjectCommand({ Bucket, Key: `second-${second}` });
        return dateOf(await server.clients.s3.send(command));
      }),
    );
    expect(dates).toEqual([AT - 4_000, AT - 3_000, AT - 2_000]);
  });

  it.each([
    ['without a date', {}],
    ['with a date that can not be read', { Date: 'yesterday' }],
  ])('%s count as given now', async (_, headers) => {
    answering(headers);
    const answer = await server.clients.s3.send(new HeadObjectCommand({ Bucket, Key: 'a' }));
    vi.useFakeTimers({ now: AT, toFake: ['Date'] });
    expect(dateOf(answer)).toBe(AT);
  });
});
