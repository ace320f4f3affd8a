import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestOf,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import {
  DOWNLOADS_EDGE,
  EDGE_ERRORS,
  type EdgeSettings,
  LARGEST_EDGE_FILE,
} from '../../lib/downloads-edge.ts';
import { type Listener, OTHER_HOSTS, serve } from '../serve.ts';

/** A complete answer. It may be cached, or sent to several clients. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** In milliseconds since 1970. After this time, the origin is asked whether the answer has changed. */
  readonly freshUntil: number;
}

/** How long CloudFront waits for the first or the next byte of a bucket's answer. This stand-in does not retry. */
const ORIGIN_MS = 30_000;

/**
 * Stands in for one edge location of CloudFront, in front of the object store. It follows the developer guide in all
 * that affects our downloads (docs/local.md, "What is emulated"). The settings and the origin's headers decide what it
 * caches and shares. Its address replaces the bucket's origin in a presigned URL.
 */
export async function startDownloadsEdge(
  origin: string,
  settings: EdgeSettings = DOWNLOADS_EDGE,
): Promise<Listener> {
  const { hostname, port, host } = new URL(origin);
  const cache = new Map<string, Answer>();
  /** The requests under way, by cache key. Each resolves to undefined if the clients that wait must ask themselves. */
  const underWay = new Map<string, Promise<Answer | undefined>>();

  /** Asks the origin. Aborts if the client disconnects, or if the origin sends nothing for ORIGIN_MS. */
  const askOrigin = async (incoming: IncomingMessage, response: ServerResponse, prior?: Answer) => {
    const { method, url: path } = incoming;
    const condition = prior?.headers.etag === undefined ? {} : { 'if-none-match': prior.headers.etag };
    const outgoing = requestOf({
      ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, path, method },
      headers: { ...condition, ...forwardedHeaders(incoming, settings, host) },
      timeout: ORIGIN_MS,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('The origin says nothing.')));
    response.once('close', () => outgoing.destroy());
    outgoing.end();
    const [answered] = (await once(outgoing, 'response')) as [IncomingMessage];
    // The reader of the answer gets later errors too. Without this listener, they would end the process.
    outgoing.on('error', () => {});
    return answered;
  };

  /**
   * Resolves to `prior`, a cached answer, if the origin says that it has not changed, or if the origin fails. Otherwise
   * resolves to a complete answer if other clients may share it, and to the origin's stream if not.
   */
  const fetchAnswer = async (
    incoming: IncomingMessage,
    response: ServerResponse,
    prior?: Answer,
  ): Promise<Answer | IncomingMessage> => {
    const asking = askOrigin(incoming, response, prior);
    const answered = await (prior ? asking.catch(() => prior) : asking);
    if ('body' in answered) return answered;
    const { statusCode: status = 502, headers } = answered;
    const isUnchanged = status === 304 && incoming.headers['if-none-match'] === undefined;
    if (prior && (isUnchanged || status >= 500)) {
      answered.resume();
      return prior;
    }
    if (Number(headers['content-length'] ?? 0) > LARGEST_EDGE_FILE) {
      answered.destroy();
      throw new Error('The file is larger than the edge takes.');
    }
    // A GET with the same key needs a body, which the answer to a successful HEAD does not have. But an error answer to
    // a HEAD is also used for such a GET, as in CloudFront.
    const isWhole = incoming.method === 'GET' || (incoming.method === 'HEAD' && status >= 400);
    if (!isWhole || incoming.headers.range !== undefined || !isShared(headers, settings)) return answered;
    const seconds = keptSeconds(status, headers, settings);
    const body = await buffer(answered);
    const answer = { status, headers, body, freshUntil: Date.now() + (seconds ?? 0) * 1_000 };
    if (seconds !== undefined) cache.set(keyOf(incoming, settings), answer);
    return answer;
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', headers } = incoming;
    if (!settings.methods.includes(method)) return refuse(response, 403, `${method} is not allowed here.`);
    if (Number(headers['content-length'] ?? 0) > 0) return refuse(response, 403, 'A body is not taken.');
    const key = keyOf(incoming, settings);
    const isKeyed = method !== 'OPTIONS' && headers.range === undefined;
    const prior = isKeyed ? cache.get(key) : undefined;
    const shared = prior && prior.freshUntil > Date.now() ? prior : isKeyed && (await underWay.get(key));
    if (shared) return give(incoming, response, shared, 'Hit');
    const fetched = fetchAnswer(incoming, response, prior);
    if (isKeyed) {
      const shareable = fetched.then((got) => ('body' in got ? got : undefined)).catch(() => undefined);
      underWay.set(key, shareable);
      void shareable.then(() => underWay.get(key) === shareable && underWay.delete(key));
    }
    const got = await fetched;
    if ('body' in got) return give(incoming, response, got, got === prior ? 'RefreshHit' : 'Miss');
    response.writeHead(got.statusCode ?? 502, shownHeaders(got.headers, 'Miss'));
    await pipeline(got, response);
  };

  /** Sends an answer to a client. A HEAD gets no body. The body is gzipped if the settings and the client allow it. */
  const give = (incoming: IncomingMessage, response: ServerResponse, answer: Answer, cacheStatus: string) => {
    const { status, headers, body } = answer;
    const sentHeaders = shownHeaders(headers, cacheStatus);
    const isHead = incoming.method === 'HEAD';
    const acceptsGzip = /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''));
    if (settings.compresses && acceptsGzip && body.length >= 1_000 && !headers['content-encoding']) {
      const { 'content-length': _, etag, ...rest } = sentHeaders;
      response.writeHead(status, { ...rest, etag: `W/${etag}`, 'content-encoding': 'gzip' });
      response.end(isHead ? undefined : gzipSync(body));
      return;
    }
    response.writeHead(status, sentHeaders).end(isHead ? undefined : body);
  };

  return serve(
    (incoming, response) =>
      handle(incoming, response).catch((error: Error) => {
        // It is too late for an error answer: the client has disconnected, or the origin's answer has broken off.
        if (response.headersSent) response.destroy();
        else refuse(response, 502, error.message);
      }),
    { hosts: OTHER_HOSTS },
  );
}

/** The cache key of a request. The method is not part of it. */
function keyOf({ url = '', headers }: IncomingMessage, { key }: EdgeSettings): string {
  const [path = ''] = url.split('?', 1);
  const values = key.headers.map((name) => headers[name.toLowerCase()] ?? '');
  return JSON.stringify([path, key.query === 'all' ? url.slice(path.length) : '', ...values]);
}

function shownHeaders(headers: IncomingHttpHeaders, cacheStatus: string): OutgoingHttpHeaders {
  const own = { via: '1.1 edge.local (CloudFront)', 'x-cache': `${cacheStatus} from cloudfront` };
  const { connection, 'keep-alive': keepAlive, 'transfer-encoding': encoding, ...shown } = headers;
  return { ...shown, ...own };
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html', 'x-cache': 'Error from cloudfront' });
  response.end(`<h1>${status} ERROR</h1><p>The request could not be satisfied. ${text}</p>\n`);
}

/**
 * CloudFront caches these errors for at least the error TTL, whatever the origin's headers say. It caches the other
 * errors of `EDGE_ERRORS` only if the origin sends a `max-age`.
 */
const ALWAYS_KEPT = [404, 414, 500, 501, 502, 503, 504];

const NOT_SHARED = /\b(?:no-store|no-cache|private|max-age=0|s-maxage=0)\b/;

const maxAgeOf = (headers: IncomingHttpHeaders): number | undefined => {
  const control = headers['cache-control'] ?? '';
  const [, age] = /\bs-maxage=(\d+)/.exec(control) ?? /\bmax-age=(\d+)/.exec(control) ?? [];
  return age === undefined ? undefined : Number(age);
};

/** Whether one answer goes to all clients that requested the same file while it was fetched ("request collapsing"). */
const isShared = (headers: IncomingHttpHeaders, { ttlSeconds }: EdgeSettings): boolean =>
  ttlSeconds.minimum > 0 || !NOT_SHARED.test(headers['cache-control'] ?? '');

/**
 * The number of seconds for which CloudFront sends a cached answer without asking the origin. 0: it caches the answer,
 * but asks the origin each time whether it has changed. Undefined: it does not cache the answer. See the developer
 * guide, "Manage how long content stays in the cache" and "HTTP 4xx and 5xx status codes that CloudFront caches".
 */
function keptSeconds(status: number, headers: IncomingHttpHeaders, settings: EdgeSettings) {
  const { minimum, default: byDefault, maximum } = settings.ttlSeconds;
  const maxAge = maxAgeOf(headers);
  if (status >= 400) {
    const isKept =
      ALWAYS_KEPT.includes(status) || ((EDGE_ERRORS as readonly number[]).includes(status) && maxAge);
    const seconds = Math.max(settings.errorTtlSeconds, maxAge ?? 0);
    return isKept && seconds > 0 ? seconds : undefined;
  }
  if (/\b(?:no-store|no-cache|private)\b/.test(headers['cache-control'] ?? ''))
    return minimum > 0 ? minimum : undefined;
  return Math.max(minimum, maxAge === undefined ? byDefault : Math.min(maxAge, maximum));
}

/** The headers that CloudFront forwards under any policy ("HTTP request headers and CloudFront behavior"). */
const ALWAYS_FORWARDED = [
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
];

/**
 * The headers of the request to the origin at `host`. They include `Authorization` only if the cache key names it, or
 * if the request is an OPTIONS. Answers to OPTIONS are not cached.
 */
function forwardedHeaders(
  { method, headers, socket }: IncomingMessage,
  { key }: EdgeSettings,
  host: string,
): OutgoingHttpHeaders {
  const names = [
    ...ALWAYS_FORWARDED,
    ...(method === 'OPTIONS' ? ['authorization'] : []),
    ...key.headers.map((name) => name.toLowerCase()),
  ];
  const forwarded = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return {
    ...Object.fromEntries(forwarded),
    host,
    'user-agent': 'Amazon CloudFront',
    via: '1.1 edge.local (CloudFront)',
    'x-forwarded-for': [headers['x-forwarded-for'], socket.remoteAddress].filter(Boolean).join(', '),
    'x-amz-cf-id': randomUUID(),
  };
}
