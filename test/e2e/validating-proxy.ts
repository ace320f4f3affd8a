import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { request as sendEncrypted } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { requestTooLarge } from '../../lib/problems/gateway-problems.ts';
import { COMMON_HEADERS } from '../../lib/response-headers.ts';
import { faultsOfResponse } from '../openapi/response-validator.ts';

/** The host name and the path under which the upstream serves the service. */
export interface Site {
  /** The `Host` header that the proxy sends to the gateway; by default, it sends the caller's. */
  readonly host?: string;
  /** The upstream's path before the service's own paths. */
  readonly basePath?: string;
}

/**
 * Starts a proxy before the gateway. The proxy compares every answer with docs/openapi.json, and with the headers that
 * every answer must have. If an answer does not fit, the proxy sends a 599 instead, which says why, and `close` rejects.
 */
export async function startValidatingProxy(upstream: string, { host, basePath = '' }: Site = {}) {
  const unfit: string[] = [];
  // The proxy accepts larger requests than the gateway, so the gateway itself can refuse them as too large.
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    // If the gateway closes during a request, the client's connection is cut, as it would be without the proxy.
    const answer = await forward(request, upstream, host).catch(() => undefined);
    if (!answer) return response.destroy();
    const { status, headers, rawHeaders, body } = answer;
    const route = path.startsWith(basePath) ? path.slice(basePath.length) : path;
    const isGzipped = headers['content-encoding'] === 'gzip' && body.length > 0;
    const readable = isGzipped ? gunzipSync(body) : body;
    const faults = await faultsOfResponse({ method, path: route, status, headers, body: readable });
    // API Gateway's own 413 does not have the service's headers.
    if (status !== requestTooLarge.status) faults.push(...missingHeaders(headers));
    if (faults.length === 0) return response.writeHead(status, rawHeaders).end(body);
    const report = `${method} ${path.split('?')[0]} ${status}: ${faults.join('; ')}`;
    unfit.push(report);
    return response.writeHead(599, { 'content-type': 'text/plain' }).end(report);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      const words = 'Answers that docs/openapi.json does not allow, or without a header:';
      if (unfit.length > 0) throw new Error([words, ...unfit].join('\n'));
    },
  };
}

const missingHeaders = (headers: IncomingHttpHeaders): string[] =>
  Object.entries(COMMON_HEADERS)
    .filter(([name, value]) => headers[name.toLowerCase()] !== value)
    .map(([name]) => `no ${name}`);

async function forward(received: IncomingMessage, upstream: string, host: string | undefined) {
  const { method, url, rawHeaders } = received;
  const headers = rawHeaders.map((field, index) =>
    host !== undefined && index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host' ? host : field,
  );
  const send = upstream.startsWith('https:') ? sendEncrypted : request;
  const outgoing = send(upstream + url, { method, headers });
  outgoing.end(await buffer(received));
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return {
    status: answer.statusCode as number,
    headers: answer.headers,
    rawHeaders: answer.rawHeaders,
    body: await buffer(answer),
  };
}
