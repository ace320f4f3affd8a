import { once } from 'node:events';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { Agent, createServer, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSandbox, eventQueue } from '../../local/gateway/lambda.ts';
import { listenOnOtherHost, serve } from '../../local/serve.ts';
import { type Stack, type StackOptions, startStack } from '../../local/stack.ts';
import { keptLog } from '../kept-log.ts';
import { ownFolder } from '../own-folder.ts';
import { rawRequest } from '../raw-request.ts';
import { s3Of } from '../s3-of.ts';

/** The code of every function. It records its name, event, EVENTS_BUCKET and remaining time. Then `publish` fails. */
const FUNCTION = `
  import { appendFileSync } from 'node:fs';
  export const handler = async (event, { functionName, getRemainingTimeInMillis }) => {
    const { EVENTS_BUCKET, NOTES } = process.env;
    appendFileSync(NOTES, JSON.stringify({ functionName, event, EVENTS_BUCKET, remainingMs: getRemainingTimeInMillis() }) + '\\n');
    if (functionName === 'publish') throw new Error('no luck');
    return { statusCode: 200, body: '' };
  };`;

const folder = await ownFolder();

/** Starts a stack of functions that record their invocations. `atEnd` gets what must be done when its tests are over. */
async function startNoting(
  options: Partial<StackOptions> = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
) {
  const home = await mkdtemp(join(folder, 'stack-'));
  const [entry, notes] = [join(home, 'function.mjs'), join(home, 'notes')];
  await writeFile(entry, FUNCTION);
  await writeFile(notes, '');
  const stack = await startStack({
    openEngine: async () => ({ maxRunning: 1, run: () => Promise.reject(Error('no engine')), close() {} }),
    directory: join(home, 'run'),
    port: 0,
    log: keptLog,
    functionModule: () => pathToFileURL(entry),
    functionEnv: { NOTES: notes },
    ...options,
  });
  atEnd(() => stack.close());
  const notesOf = async (functionName: string) => {
    const text = (await readFile(notes, 'utf8')).trim().replaceAll('\n', ',');
    const all: ReturnType<typeof JSON.parse>[] = JSON.parse(`[${text}]`);
    return all.filter((note) => note.functionName === functionName);
  };
  return { stack, notesOf, directory: join(home, 'run') };
}

/** A stack with events and an edge, for all tests of this file that do not need one of their own. */
const shared = await startNoting({ eventsDirectory: tmpdir(), hasDownloadsEdge: true }, afterAll);
const { stack } = shared;

it('after three failed tries of a publication, the stack calls the function that abandons it', async () => {
  const { stack, notesOf } = await startNoting({ asyncRetryPausesMs: [0, 0] });
  const s3 = s3Of(stack);
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

it('an event is tried again after a crash of its function and after a time-out', async () => {
  const entry = join(folder, 'ends.mjs');
  await writeFile(
    entry,
    `export const handler = async (event) => {
       if (event === 'crash') process.exit(1);
       await new Promise((resolve) => setTimeout(resolve, 1_000_000));
     };`,
  );
  const sandbox = createSandbox({ name: 'publish', entry: pathToFileURL(entry), env: {}, timeoutMs: 50 });
  onTestFinished(() => sandbox.kill());
  const records: object[] = [];
  const onFailure = (record: object) => void records.push(record);
  const queue = eventQueue({ name: 'publish', sandbox, retryPausesMs: [0, 0], onFailure, log: keptLog });
  onTestFinished(() => queue.close());
  queue.send('crash');
  queue.send('slow');
  await expect.poll(() => records.length, { timeout: 10_000 }).toBe(2);
  const crash = expect.objectContaining({ requestPayload: 'crash' });
  const slow = expect.objectContaining({ requestPayload: 'slow', responsePayload: expect.anything() });
  expect(records).toEqual(expect.arrayContaining([crash, slow]));
});

it('functions have EVENTS_BUCKET only if the events are in a directory', async () => {
  const bare = await startNoting();
  const buckets = await Promise.all(
    [shared, bare].map(async ({ stack, notesOf }) => {
      await fetch(`${stack.apiUrl}/openapi.json`);
      return (await notesOf('public')).map(({ EVENTS_BUCKET }) => EVENTS_BUCKET);
    }),
  );
  expect(buckets).toEqual([['performance-reports-events'], [undefined]]);
});

/** A client that sends its body byte by byte, until the test ends. */
function sending(url: string, request: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`${request} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n`);
  const drip = setInterval(() => socket.write('x'), 100);
  onTestFinished(() => clearInterval(drip));
  return socket;
}

/** Resolves once a socket is closed. It may be by a reset, since it still sends. */
const ended = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

describe('a listener of the stack', () => {
  const urls = {
    storage: ({ storageUrl }: Stack) => storageUrl,
    edge: ({ environment }: Stack) => environment['DOWNLOADS_EDGE_ORIGIN'] ?? '',
    athena: ({ athenaUrl }: Stack) => athenaUrl,
    faults: ({ faultsUrl }: Stack) => faultsUrl,
    'identity provider': ({ tokenUrl }: Stack) => tokenUrl,
  };

  it.each(Object.entries(urls))('answers under its own name and no other: %s', async (_, urlOf) => {
    const url = urlOf(stack);
    const { pathname, host, port } = new URL(url);
    for (const foreign of ['evil.example', `evil.example:${port}`, '10.0.0.1', `${host}.evil.example`])
      expect(await rawRequest(url, pathname, { host: foreign })).toMatchObject({ status: 421 });
    expect((await rawRequest(url, `http://evil.example:${port}${pathname}`, { host })).status).toBe(421);
    // Behind a forwarded port, the port of the name is another one.
    for (const own of [host, new URL(url).hostname, `localhost:${Number(port) + 1}`])
      expect((await rawRequest(url, pathname, { host: own })).status).not.toBe(421);
  });

  it('gives pages of other origins the bucket of the reports by its CORS rule, and nothing else', async () => {
    const origin = { origin: 'https://evil.example' };
    const allowed = async (url: string, path: string, more = {}, method = 'GET') =>
      (await rawRequest(url, path, { host: new URL(url).host, ...origin, ...more }, method)).headers[
        'access-control-allow-origin'
      ];
    for (const bucket of ['performance-reports-events', 'performance-reports-partners', 'none']) {
      expect(await allowed(stack.storageUrl, `/${bucket}/x`)).toBeUndefined();
      const preflight = { 'access-control-request-method': 'GET' };
      expect(await allowed(stack.storageUrl, `/${bucket}/x`, preflight, 'OPTIONS')).toBeUndefined();
    }
    expect(await allowed(stack.storageUrl, '/performance-reports-results/x')).toBe('*');
    const partners = `${stack.apiUrl}/.local/partners`;
    const own = [stack.apiUrl, partners, `${partners}/house/token`];
    for (const url of [stack.athenaUrl, stack.faultsUrl, stack.tokenUrl, ...own])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect(await allowed(url, new URL(url).pathname, {}, method)).toBeUndefined();
  });

  it('draws the credentials of storage and of the clients at each start', async () => {
    expect((await startNoting()).stack.clientSecret).not.toBe(stack.clientSecret);
    const drawn: { accessKeyId: string; secretAccessKey: string }[] = [];
    for (let start = 0; start < 2; start++) {
      vi.resetModules();
      drawn.push((await import('../../local/object-store/verify-signature.ts')).credentials);
    }
    const [first, second] = drawn;
    expect(first).toMatchObject({
      accessKeyId: expect.stringMatching(/^LOCAL[0-9A-F]{16}$/),
      secretAccessKey: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(first?.accessKeyId).not.toBe(second?.accessKeyId);
    expect(first?.secretAccessKey).not.toBe(second?.secretAccessKey);
  });

  it('keeps the files of the stack from other users', async () => {
    expect((await stat(shared.directory)).mode & 0o077).toBe(0);
  });

  it('closes the connection of a client that is answered and still sends its body', async () => {
    const socket = sending(stack.apiUrl, 'GET /openapi.json');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    await ended(socket);
  }, 10_000);
});

it('a listener ends a request whose body takes too long, even if it waits for the body', async () => {
  const { url, close } = await serve((request) => text(request).catch(() => ''), { longestRequestMs: 300 });
  onTestFinished(close);
  const socket = sending(url, 'POST /token');
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 408 /);
  await ended(socket);
}, 10_000);

it('a listener ends at once, although a client keeps its idle connection', async () => {
  const { url, close } = await serve((_, response) => response.end());
  const agent = new Agent({ keepAlive: true });
  await text((await once(send(url, { agent }).end(), 'response'))[0]);
  const began = Date.now();
  await close();
  agent.destroy();
  // Node itself waits for an idle connection for five seconds.
  expect(Date.now() - began).toBeLessThan(4_000);
});

describe('a request line in absolute form', () => {
  it.each(['http://127.0.0.1', 'HTTP://reports.example:80'])(
    'is the request for its path: %s',
    async (origin) => {
      const { host } = new URL(stack.apiUrl);
      await rawRequest(stack.apiUrl, `${origin}/reporting/publisherperformance?a=1#b`, { host });
      const { event } = (await shared.notesOf('publisherperformance')).at(-1);
      const parameters = { multiValueQueryStringParameters: { a: ['1'] } };
      expect(event).toMatchObject({ path: '/reporting/publisherperformance', ...parameters });
      // RFC 9112, 3.2.2: the host of the target replaces that of the header.
      expect(event.multiValueHeaders.Host ?? event.multiValueHeaders.host).toEqual([origin.split('//')[1]]);
    },
  );

  it.each(['*', 'about:blank'])('is refused if it is no target of HTTP: %s', async (target) => {
    const before = await shared.notesOf('public');
    expect(await rawRequest(stack.apiUrl, target, { host: '127.0.0.1' })).toMatchObject({ status: 400 });
    expect(await shared.notesOf('public')).toEqual(before);
  });
});

it('listenOnOtherHost uses the next address if the machine does not have the first one, and throws if it has none', async () => {
  // Addresses that are reserved for documentation (RFC 5737), so no machine has them.
  const nobodys = ['192.0.2.1', '198.51.100.1'];
  const listening = (hosts: string[]) => {
    const server = createServer((_, response) => response.end('here'));
    onTestFinished(() => void server.close());
    return listenOnOtherHost(server, hosts);
  };
  expect(await (await fetch(await listening([...nobodys, '127.0.0.1']))).text()).toBe('here');
  await expect(listening(nobodys)).rejects.toThrow(
    'This machine has none of the addresses 192.0.2.1, 198.51.100.1.',
  );
});
