import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestOf,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { DOWNLOADS_EDGE, type EdgeSettings, LARGEST_EDGE_FILE } from '../../lib/downloads-edge.ts';
import { listenOnOtherHost } from '../object-store/listen-on-other-host.ts';
import { isShared, keptSeconds } from './cache-rules.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

export interface DownloadsEdge {
  /** Its origin: what takes the place of the bucket's in a presigned URL. */
  readonly url: string;
  close(): Promise<void>;
}

/** An answer that is kept, or given to several. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Milliseconds since 1970; later, the origin is asked whether it has changed. */
  readonly freshUntil: number;
}

/**
 * Stands in for CloudFront before the object store, with one edge location. Of what the developer guide says, it does what
 * bears on our downloads, the unpleasant things too: it keeps errors and answers, gives one answer to all who ask for the
 * same at one time, and an old one when the origin fails, unless the settings and the origin's headers forbid it. What it
 * does not do: TLS, parts of kept answers, other origins than one.
 */
export async function startDownloadsEdge(
  origin: string,
  settings: EdgeSettings = DOWNLOADS_EDGE,
): Promise<DownloadsEdge> {
  const { host } = new URL(origin);
  const cache = new Map<string, Answer>();
  /** By key and method: who waits gets the answer, or undefined where it has to ask by itself. */
  const underWay = new Map<string, Promise<Answer | undefined>>();

  const ask = async (incoming: IncomingMessage, kept?: Answer): Promise<IncomingMessage> => {
    const { method, headers, url } = incoming;
    const forwarded = forwardedHeaders(headers, settings, host);
    const condition = kept?.headers.etag === undefined ? {} : { 'if-none-match': kept.headers.etag };
    const outgoing = requestOf(`${origin}${url}`, { method, headers: { ...condition, ...forwarded } });
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  };

  /** Answers from the origin. Tells what may be given to others, or that nothing may. */
  const answerFresh = async (
    incoming: IncomingMessage,
    response: ServerResponse,
    key: string,
    kept: Answer | undefined,
    tell: (shared?: Answer) => void,
  ): Promise<void> => {
    const answered = await ask(incoming, kept);
    const { statusCode: status = 502, headers } = answered;
    const isOfCaller = incoming.headers['if-none-match'] !== undefined;
    if (kept && ((status === 304 && !isOfCaller) || status >= 500)) {
      answered.resume();
      tell(kept);
      return give(incoming, response, kept, 'RefreshHit');
    }
    if (Number(headers['content-length'] ?? 0) > LARGEST_EDGE_FILE) {
      answered.destroy();
      return refuse(response, 502, 'The file is larger than the edge takes.');
    }
    if (!isShared(headers, settings) || incoming.headers.range !== undefined) {
      tell();
      response.writeHead(status, shownHeaders(headers, 'Miss'));
      return pipeline(answered, response);
    }
    const seconds = keptSeconds(status, headers, settings);
    const body = await buffer(answered);
    const answer = { status, headers, body, freshUntil: Date.now() + (seconds ?? 0) * 1_000 };
    if (seconds !== undefined) cache.set(key, answer);
    tell(answer);
    give(incoming, response, answer, 'Miss');
  };

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', headers } = incoming;
    if (!settings.methods.includes(method)) return refuse(response, 403, `${method} is not allowed here.`);
    if (Number(headers['content-length'] ?? 0) > 0) return refuse(response, 403, 'A body is not taken.');
    const key = keyOf(incoming, settings);
    // CloudFront keeps answers to GET and HEAD, and asks the origin for every OPTIONS.
    if (method === 'OPTIONS') return answerFresh(incoming, response, key, undefined, () => {});
    const kept = headers.range === undefined ? cache.get(key) : undefined;
    if (kept && kept.freshUntil > Date.now()) return give(incoming, response, kept, 'Hit');
    const sameRequest = `${method} ${headers.range ?? ''} ${key}`;
    const shared = await underWay.get(sameRequest);
    if (shared) return give(incoming, response, shared, 'Hit');
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    underWay.set(sameRequest, promise);
    const tell = (told?: Answer) => {
      if (underWay.get(sameRequest) === promise) underWay.delete(sameRequest);
      resolve(told);
    };
    return answerFresh(incoming, response, key, kept, tell).finally(tell);
  };

  /** One answer for whoever asked for it: without its body after a HEAD, gzipped where the settings say so. */
  const give = (incoming: IncomingMessage, response: ServerResponse, answer: Answer, cacheStatus: string) => {
    const { status, headers, body } = answer;
    const shown = shownHeaders(headers, cacheStatus);
    const isHead = incoming.method === 'HEAD';
    const admitsGzip = /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''));
    if (settings.compresses && admitsGzip && body.length >= 1_000 && !headers['content-encoding']) {
      const { 'content-length': _, etag, ...rest } = shown;
      response.writeHead(status, { ...rest, etag: `W/${etag}`, 'content-encoding': 'gzip' });
      response.end(isHead ? undefined : gzipSync(body));
      return;
    }
    response.writeHead(status, shown).end(isHead ? undefined : body);
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => {
      // Too late for an answer: the client has gone, or the origin has broken off.
      if (response.headersSent) response.destroy();
      else refuse(response, 502, 'The origin can not be reached.');
    });
  });
  const url = await listenOnOtherHost(server);
  return {
    url,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** What two requests must have in common to get one answer. */
function keyOf({ url = '', headers }: IncomingMessage, { key }: EdgeSettings): string {
  const [path = '', query = ''] = url.split('?');
  const values = key.headers.map((name) => headers[name.toLowerCase()] ?? '');
  return JSON.stringify([path, key.query === 'all' ? query : '', ...values]);
}

const shownHeaders = (
  {
    connection,
    'keep-alive': keepAlive,
    'transfer-encoding': transferEncoding,
    ...headers
  }: IncomingHttpHeaders,
  cacheStatus: string,
): OutgoingHttpHeaders => ({
  ...headers,
  via: '1.1 edge.local (CloudFront)',
  'x-cache': `${cacheStatus} from cloudfront`,
});

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html', 'x-cache': 'Error from cloudfront' });
  response.end(`<h1>${status} ERROR</h1><p>The request could not be satisfied. ${text}</p>\n`);
}
