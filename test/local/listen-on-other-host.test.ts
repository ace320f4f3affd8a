import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenOnOtherHost } from '../../local/serve.ts';

// Addresses that are reserved for documentation (RFC 5737), so no machine has them.
const NOBODYS = ['192.0.2.1', '198.51.100.1'];

let server: ReturnType<typeof createServer>;
beforeEach(() => {
  server = createServer((_, response) => response.end('here'));
});
afterEach(() => {
  server.close();
});

describe('listenOnOtherHost', () => {
  it('uses the next address if the machine does not have the first one', async () => {
    const origin = await listenOnOtherHost(server, [...NOBODYS, '127.0.0.1']);
    expect(await (await fetch(origin)).text()).toBe('here');
  });

  it('throws if the machine has none of the addresses', async () => {
    await expect(listenOnOtherHost(server, NOBODYS)).rejects.toThrow(
      'This machine has none of the addresses 192.0.2.1, 198.51.100.1.',
    );
  });
});
