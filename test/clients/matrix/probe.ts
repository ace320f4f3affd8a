import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenOnOtherHost } from '../../../local/serve.ts';

/** What a client does when it is redirected to another host. */
export interface Seen {
  asks: boolean;
  sendsToken: boolean;
  follows: boolean;
  forwardsToken: boolean;
  asksForGzip: boolean;
}

/** Starts two hosts: the first redirects to the second. The first segment of a path names the client. */
export async function startProbe() {
  const seen = new Map<string, Seen>();
  const of = (path = '') => {
    const [, client = ''] = /^\/(\w+)/.exec(path) ?? [];
    const known = seen.get(client) ?? {
      asks: false,
      sendsToken: false,
      follows: false,
      forwardsToken: false,
      asksForGzip: false,
    };
    seen.set(client, known);
    return known;
  };
  const far = createServer((request, response) => {
    const known = of(request.url);
    known.follows = true;
    known.forwardsToken ||= request.headers.authorization !== undefined;
    response.end('"Day"\n');
  });
  const farOrigin = await listenOnOtherHost(far);
  const near = createServer((request, response) => {
    const known = of(request.url);
    known.asks = true;
    known.sendsToken ||= request.headers.authorization !== undefined;
    known.asksForGzip ||= /gzip/.test(request.headers['accept-encoding'] ?? '');
    response.writeHead(303, { location: farOrigin + (request.url?.split('?')[0] ?? '/') }).end();
  });
  await once(near.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(near.address() as AddressInfo).port}`,
    seen: (client: string) => of(`/${client}`),
    close: () => {
      for (const server of [near, far]) server.close().closeAllConnections();
    },
  };
}
