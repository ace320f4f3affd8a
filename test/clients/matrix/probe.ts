import { OTHER_HOSTS, serve } from '../../../local/serve.ts';

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
    const none = { asks: false, sendsToken: false, follows: false, forwardsToken: false, asksForGzip: false };
    const requests = seen.get(client) ?? none;
    seen.set(client, requests);
    return requests;
  };
  const far = await serve(
    (request, response) => {
      const client = of(request.url);
      client.follows = true;
      client.forwardsToken ||= request.headers.authorization !== undefined;
      response.end('"Day"\n');
    },
    { hosts: OTHER_HOSTS },
  );
  const near = await serve((request, response) => {
    const client = of(request.url);
    client.asks = true;
    client.sendsToken ||= request.headers.authorization !== undefined;
    client.asksForGzip ||= /gzip/.test(request.headers['accept-encoding'] ?? '');
    response.writeHead(303, { location: far.url + (request.url?.split('?')[0] ?? '/') }).end();
  });
  return {
    origin: near.url,
    seen: (client: string) => of(`/${client}`),
    close: () => Promise.all([near.close(), far.close()]),
  };
}
