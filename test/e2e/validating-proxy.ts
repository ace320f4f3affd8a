import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { faultsOfResponse } from '../openapi/response-validator.ts';

export interface ValidatingProxy {
  readonly url: string;
  /** Rejects with every answer that did not fit the document. */
  close(): Promise<void>;
}

/**
 * Stands before the gateway and holds every answer that passes against docs/openapi.json, whatever client asked.
 * One that does not fit is replaced by a 599 that says why.
 */
export async function startValidatingProxy(upstream: string): Promise<ValidatingProxy> {
  const unfit: string[] = [];
  // Room for what the gateway is to refuse as too large.
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    // Where the gateway is closed under the request, the client sees it as it would without the proxy.
    const answer = await forward(request, upstream).catch(() => undefined);
    if (!answer) return response.destroy();
    const { status, headers, rawHeaders, body } = answer;
    const isZipped = headers['content-encoding'] === 'gzip' && body.length > 0;
    const readable = isZipped ? gunzipSync(body) : body;
    const faults = await faultsOfResponse({ method, path, status, headers, body: readable });
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
      if (unfit.length > 0)
        throw new Error(`Answers that docs/openapi.json does not allow:\n${unfit.join('\n')}`);
    },
  };
}

async function forward(request: IncomingMessage, upstream: string) {
  const { method, url, rawHeaders: headers } = request;
  const outgoing = send(upstream + url, { method, headers });
  outgoing.end(await buffer(request));
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return {
    status: answer.statusCode as number,
    headers: answer.headers,
    rawHeaders: answer.rawHeaders,
    body: await buffer(answer),
  };
}
