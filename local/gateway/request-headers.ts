import type { IncomingMessage } from 'node:http';

/** The headers that the gateway sets itself. They replace the caller's. */
const ownHeaders = ({ socket }: IncomingMessage): [name: string, value: string][] => [
  ['X-Forwarded-Proto', 'http'],
  ['X-Forwarded-Port', String(socket.localPort)],
];

/** All values of each header. A header's name has the case that the caller used first: API Gateway keeps the case. */
export function requestHeaders(request: IncomingMessage): Record<string, string[]> {
  const own = ownHeaders(request);
  const isOwn = (name: string) => own.some(([ownName]) => ownName.toLowerCase() === name.toLowerCase());
  const pairs = request.rawHeaders.flatMap((name, index, all): [string, string][] =>
    index % 2 === 0 && !isOwn(name) ? [[name, all[index + 1] ?? '']] : [],
  );
  const byName = Map.groupBy([...pairs, ...own], ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...byName.values()].map((same) => [same[0]?.[0] ?? '', same.map(([, value]) => value)]),
  );
}
