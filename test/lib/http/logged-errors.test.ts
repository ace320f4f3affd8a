import { Logger } from '@aws-lambda-powertools/logger';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { downloadsHandler } from '../../../lib/http/downloads-handler.ts';
import { type AnsweringServer, startAnsweringServer } from '../aws/answering-server.ts';
import { functionSetting, invoke, requestEvent } from './setting.ts';

let server: AnsweringServer;
let lines: string[];
beforeEach(async () => {
  server = await startAnsweringServer();
  lines = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((line) => Boolean(lines.push(String(line))));
  return async () => {
    vi.restoreAllMocks();
    await server.close();
  };
});

const TICKET = 'A'.repeat(43);

/** The log line of a hop whose ticket S3 does not give, with S3's error. */
async function lineOfHop(status: number, error: string) {
  server.answer = (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/xml', 'X-Amz-Request-Id': 'R1' });
    response.end(`<Error>${error}</Error>`);
  };
  const { dependencies, backends, register } = functionSetting();
  // A throttled call is repeated to its deadline. An answer of another kind ends it, however slow the machine is.
  const patienceMs = status === 503 ? 200 : 60_000;
  const results = s3ResultsBucket(server.clients.s3, 'results', Date.now() + patienceMs);
  const handler = downloadsHandler({
    ...dependencies,
    log: new Logger(),
    backendsUntil: () => ({ ...backends, register, results }),
  });
  const path = `/reporting/downloads/${TICKET}/1`;
  await invoke(handler, requestEvent({ path, pathParameters: { ticket: TICKET, hop: '1' } }));
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

const KEY = `waiting/${TICKET}.json`;

describe('the log line of a hop', () => {
  it('says which action S3 refused, and does not show the ticket that S3’s message quotes', async () => {
    const { error, status } = await lineOfHop(
      403,
      `<Code>AccessDenied</Code><Message>User: arn:aws:sts::1:assumed-role/x/y is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::results/${KEY}" because no identity-based policy allows the s3:GetObject action</Message>`,
    );
    expect([status, error]).toEqual([
      500,
      {
        name: 'AwsCallFailed',
        location: expect.stringContaining('call.ts'),
        message: 'S3 GetObject: AccessDenied, status 403, request R1',
        stack: expect.stringContaining('downloads-handler.ts'),
        operation: 'S3 GetObject',
        httpStatus: 403,
        awsRequestId: 'R1',
        refusedAction: 's3:GetObject',
      },
    ]);
    expect(lines.join()).not.toContain(TICKET);
  });
});
