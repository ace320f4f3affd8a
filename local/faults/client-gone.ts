import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Resolves once the client of a stalled call has gone, or the server was closed. */
export async function clientGone(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
}
