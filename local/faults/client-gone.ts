import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** What a stalled call waits for: its client has gone, or the server was closed. */
export async function clientGone(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
}
