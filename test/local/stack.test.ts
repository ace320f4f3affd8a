import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, it, onTestFinished } from 'vitest';
import { credentials } from '../../local/object-store/verify-signature.ts';
import { type StackOptions, startStack } from '../../local/stack.ts';
import { keptLog } from '../kept-log.ts';

/** The code of every function. It records its name, event, EVENTS_BUCKET and remaining time. Then `publish` fails. */
const FUNCTION = `
  import { appendFileSync } from 'node:fs';
  export const handler = async (event, { functionName, getRemainingTimeInMillis }) => {
    const { EVENTS_BUCKET, NOTES } = process.env;
    appendFileSync(NOTES, JSON.stringify({ functionName, event, EVENTS_BUCKET, remainingMs: getRemainingTimeInMillis() }) + '\\n');
    if (functionName === 'publish') throw new Error('no luck');
    return { statusCode: 200, body: '' };
  };`;

/** Starts a stack of functions that record their invocations. */
async function startNoting(options: Partial<StackOptions> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'stack-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const [entry, notes] = [join(home, 'function.mjs'), join(home, 'notes')];
  await writeFile(entry, FUNCTION);
  await writeFile(notes, '');
  const stack = await startStack({
    openEngine: async () => ({
      maxRunning: 1,
      run: () => Promise.reject(new Error('there is no engine here')),
      close: () => {},
    }),
    directory: join(home, 'run'),
    port: 0,
    log: keptLog,
    functionModule: () => pathToFileURL(entry),
    functionEnv: { NOTES: notes },
    ...options,
  });
  onTestFinished(() => stack.close());
  const notesOf = async (functionName: string) =>
    (await readFile(notes, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter((note) => note.functionName === functionName);
  return { stack, notesOf };
}

it('after three failed tries of a publication, the stack calls the function that abandons it', async () => {
  const { stack, notesOf } = await startNoting({ asyncRetryPausesMs: [0, 0] });
  const s3 = new S3Client({ endpoint: stack.storageUrl, region: 'us-east-1', credentials });
  onTestFinished(() => s3.destroy());
  const object = { Bucket: 'performance-reports-results', Key: 'publications/id.json', Body: '{}' };

  await s3.send(new PutObjectCommand({ ...object, Key: 'waiting/id.json' }));
  await s3.send(new PutObjectCommand(object));

  await expect.poll(() => notesOf('abandon')).toHaveLength(1);
  const [published, ...again] = await notesOf('publish');
  expect(published.event).toMatchObject({
    'detail-type': 'Object Created',
    source: 'aws.s3',
    detail: { bucket: { name: object.Bucket }, object: { key: object.Key } },
  });
  expect(again.map(({ event }) => event)).toEqual([published.event, published.event]);
  const [abandoned] = await notesOf('abandon');
  expect(abandoned.event).toMatchObject({
    requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
    requestPayload: published.event,
  });
  // The function gets the time that is left of its 60 s, and limits its calls to this time.
  expect(abandoned.remainingMs).toBeGreaterThan(0);
  expect(abandoned.remainingMs).toBeLessThanOrEqual(60_000);
});

it('functions have EVENTS_BUCKET only if the events are in a directory', async () => {
  const eventsDirectory = await mkdtemp(join(tmpdir(), 'stack-events-'));
  onTestFinished(() => rm(eventsDirectory, { recursive: true }));
  for (const [options, bucket] of [
    [{ eventsDirectory }, 'performance-reports-events'],
    [{}, undefined],
  ] as const) {
    const { stack, notesOf } = await startNoting(options);
    await fetch(`${stack.apiUrl}/openapi.json`);
    expect((await notesOf('openapi')).map(({ EVENTS_BUCKET }) => EVENTS_BUCKET)).toEqual([bucket]);
  }
});
