import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';

/**
 * Loopback addresses that need no set-up, the best one first. Storage needs another host than the gateway's 127.0.0.1:
 * many clients drop `Authorization` on a redirect to another host, but not to another port of the same host. On the
 * same host, storage would get tokens that S3 never gets. Linux and Windows have all of 127.0.0.0/8; macOS has
 * 127.0.0.1 and ::1. The hosts are addresses, not names: the AWS SDK would put the bucket's name before a host name.
 */
export const OTHER_HOSTS = ['127.0.0.2', '::1', '127.0.0.1'];

/**
 * Listens on a free port, or on the given one, of the first host that this machine has. Resolves to the origin, such as
 * `http://127.0.0.2:1234`. Rejects with the system's error if the port can't be opened.
 */
export async function listenOnOtherHost(
  server: Server,
  hosts: readonly string[] = OTHER_HOSTS,
  port = 0,
): Promise<string> {
  for (const host of hosts) {
    try {
      await once(server.listen(port, host), 'listening');
    } catch (error) {
      if (!['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error;
      continue;
    }
    const address = server.address() as AddressInfo;
    return `http://${isIPv6(host) ? `[${host}]` : host}:${address.port}`;
  }
  throw new Error(`This machine has none of the addresses ${hosts.join(', ')}.`);
}
