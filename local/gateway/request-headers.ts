import type { IncomingMessage } from 'node:http';

/** Headers that the gateway sets itself, in place of the caller's. */
const ownHeaders = ({ socket }: IncomingMessage): [name: string, value: string][] => [
  ['X-Forwarded-Proto', 'http'],
  ['X-Forwarded-Port', String(socket.localPort)],
];

/** All values of each header, under its name as the caller first wrote it: API Gateway keeps the case. */
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
