import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pythonWithPackages } from './python.ts';
import { isHere, runProgram } from './run-program.ts';

/** What each request to `/far/…` brought along: the host that a `/near/…` of the other redirects to. */
let authorizations: (string | undefined)[] = [];
let redirects = 0;
const far = createServer((request, response) => {
  authorizations.push(request.headers.authorization);
  response.end('there');
});
const near = createServer((request, response) => {
  redirects += 1;
  const endless = request.url?.startsWith('/endless');
  const location = endless ? `/endless/${redirects}` : `http://127.0.0.1:${portOf(far)}/`;
  response.writeHead(303, { location }).end();
});
const portOf = (server: typeof near) => (server.address() as AddressInfo).port;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'performance-reports-redirects-'));
  for (const server of [near, far]) await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  for (const server of [near, far]) server.close().closeAllConnections();
  await rm(home, { recursive: true, force: true });
});
beforeEach(() => {
  authorizations = [];
  redirects = 0;
});

const JAVA = `
import java.net.URI;
import java.net.http.*;
class Get {
    public static void main(String[] a) throws Exception {
        var client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
        var request = HttpRequest.newBuilder(URI.create(a[0])).header("Authorization", "Bearer x").build();
        client.send(request, HttpResponse.BodyHandlers.ofString());
    }
}`;
const REQUESTS = `import sys, requests; requests.get(sys.argv[1], headers={"Authorization": "Bearer x"})`;
const URLLIB = `
import sys, urllib.request as r
r.urlopen(r.Request(sys.argv[1], headers={"Authorization": "Bearer x"}))`;
const FETCH = `await fetch(process.argv[1], { headers: { Authorization: 'Bearer x' } })`;

const hasJava = await isHere('java', '--version');
const python = await pythonWithPackages();

/** The clients of this machine as docs/clients.md has them: redirects followed, and whether the header comes along. */
const clients: [string, boolean, number, (url: string) => Promise<unknown>][] = [
  ['curl', false, 50, (url) => runProgram('curl', ['-sSfL', '-H', 'Authorization: Bearer x', url])],
  ['fetch', false, 20, (url) => runProgram(process.execPath, ['--input-type=module', '-e', FETCH, url])],
];
if (python)
  clients.push(
    ['requests', false, 30, (url) => runProgram(python, ['-c', REQUESTS, url])],
    ['urllib', true, 10, (url) => runProgram(python, ['-c', URLLIB, url])],
  );
if (hasJava)
  clients.push([
    'Java',
    true,
    4,
    async (url) => {
      await writeFile(join(home, 'Get.java'), JAVA);
      return runProgram('java', [join(home, 'Get.java'), url]);
    },
  ]);

describe('what docs/clients.md says of redirects', () => {
  it.each(clients)(
    'holds for %s: it forwards Authorization (%s), and follows %i',
    async (_, forwards, most, get) => {
      await get(`http://127.0.0.1:${portOf(near)}/`);
      expect(authorizations).toEqual([forwards ? 'Bearer x' : undefined]);

      redirects = 0;
      await get(`http://127.0.0.1:${portOf(near)}/endless`).catch(() => {});
      // The last answer is the one that is not followed any more.
      expect(redirects - 1).toBe(most);
    },
  );
});
