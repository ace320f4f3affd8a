import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';

/** A server of this machine: its address, and how it ends. */
export interface Listener {
  readonly url: string;
  close(): Promise<void>;
}

export interface ListenerOptions {
  /** The addresses to try, all of them loopback. If left out, 127.0.0.1. */
  readonly hosts?: readonly string[] | undefined;
  /** 0 takes a free port. */
  readonly port?: number;
  /** Whether requests under any name are answered. The server must then give nothing to a request without a token. */
  readonly hasAnyName?: boolean;
  /** How long a request may take to arrive, with its body. */
  readonly longestRequestMs?: number;
  readonly maxHeaderSize?: number;
  /** The whole answer to some requests that can't be read, as it goes over the wire. */
  readonly refusalOf?: (error: NodeJS.ErrnoException) => string | undefined;
}

/** As long as API Gateway has for a request. */
const LONGEST_REQUEST_MS = 30_000;

/** After an answer, how long a client may go on sending its body. An answer is lost if its connection ends at once. */
const LINGER_MS = 2_000;

/**
 * Starts a server of the one-machine stack. It answers only requests that name it by its address or by `localhost`: a
 * web page whose own host name leads to this machine gets 421, and so can't read what the server holds. The port of the
 * name may be another one, because containers forward ports.
 */
export async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  options: ListenerOptions = {},
): Promise<Listener> {
  const { hosts = ['127.0.0.1'], port = 0, longestRequestMs = LONGEST_REQUEST_MS } = options;
  const limits = { requestTimeout: longestRequestMs, connectionsCheckingInterval: LINGER_MS };
  const names = ['localhost', ...hosts];
  const maxHeaderSize = options.maxHeaderSize ?? 16_384;
  const server = createServer({ ...limits, maxHeaderSize }, (request, response) => {
    response.once('finish', () => {
      const end = () => request.complete || request.socket.destroy();
      if (!request.complete) setTimeout(end, LINGER_MS).unref();
    });
    readAbsoluteForm(request);
    if (!request.url?.startsWith('/')) return response.writeHead(400).end();
    if (options.hasAnyName || names.includes(nameOf(request.headers.host))) return handle(request, response);
    return response.writeHead(421).end('Call this server by the address that it was started with.\n');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable) socket.end(options.refusalOf?.(error) ?? refusalOf(error));
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
  return {
    url: await listenOnOtherHost(server, hosts, port),
    async close() {
      server.close();
      // A client's idle keep-alive connection would keep the server open for seconds.
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The host of a `Host` header: in lower case, without its port, an IPv6 address without brackets. */
export const nameOf = (host = ''): string =>
  /^\[([\da-f:]+)\](?::\d*)?$|^([^:@/]+)(?::\d*)?$/i.exec(host)?.slice(1).join('').toLowerCase() ?? '';

/** A request line with a whole URL, as proxies get it, asks for its path at its host (RFC 9112, 3.2.2). */
function readAbsoluteForm(request: IncomingMessage): void {
  const [, host, path = ''] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === 'host') rawHeaders[index + 1] = host;
}

const refusalOf = ({ code }: NodeJS.ErrnoException): string =>
  `HTTP/1.1 ${code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request'}\r\nConnection: close\r\n\r\n`;

/**
 * Loopback addresses that need no set-up, the best one first. Storage needs another host than the gateway's 127.0.0.1:
 * many clients drop `Authorization` on a redirect to another host, but not to another port of the same host, so that
 * here the storage would get a token that S3 does not get on AWS. Linux and Windows have all of 127.0.0.0/8; macOS has
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
