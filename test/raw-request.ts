import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Sends a request with exactly this target and these headers (`fetch` would change both). The body stays as it came. */
export async function rawRequest(
  url: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  method = 'GET',
) {
  const { hostname, port } = new URL(url);
  const to = { host: hostname.replaceAll(/[[\]]/g, ''), port, path, headers, method, agent: false };
  const [response] = (await once(request(to).end(), 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
