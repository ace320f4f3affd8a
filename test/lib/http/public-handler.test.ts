import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { publicHandler, readPageFiles } from '../../../lib/http/public-handler.ts';
import { openApiDocument } from '../../../lib/openapi/document.ts';
import { describeFields } from '../../../lib/openapi/fields.ts';
import { COMMON_HEADERS } from '../../../lib/response-headers.ts';
import { folderOfEach } from '../../own-folder.ts';
import { functionSetting, invoke, requestEvent } from './setting.ts';

const page = { mediaType: 'text/html', body: '<script src="{{base}}/page/page.js?v={{version}}">' };
const script = { mediaType: 'text/javascript', body: 'run("{{base}}")' };
const files = { version: 'abc', byName: new Map(Object.entries({ 'page.html': page, 'page.js': script })) };
const downloadOrigins = ['https://results.s3.eu-west-1.amazonaws.com', 'https://edge.example'];

type Asked = Partial<Parameters<typeof requestEvent>[0]> & {
  readonly env?: Record<string, string>;
  readonly method?: string;
  /** Members of the request's context. */
  readonly context?: { readonly domainName?: string | undefined; readonly path?: string };
};

async function ask(path: string, { env, method: httpMethod = 'GET', context, ...more }: Asked = {}) {
  const { dependencies, lines } = functionSetting(env);
  const event = requestEvent({ path, ...more });
  const requestContext = { ...event.requestContext, ...context };
  const handler = publicHandler({ ...dependencies, files, downloadOrigins });
  const answer = await invoke(handler, { ...event, httpMethod, requestContext } as typeof event);
  return { ...answer, lines, config: dependencies.config };
}

const COMMON = { 'Service-Version': 'unknown', ...COMMON_HEADERS, Vary: 'Accept-Encoding' };

describe('a description of the service', () => {
  const cachedBy = (caches: string) => {
    const cache = { 'Content-Type': 'application/json', 'Cache-Control': `${caches}, max-age=300` };
    return [200, { ...COMMON, ...cache }];
  };

  it('GET /openapi.json is for private caches, and has "/" as address when the gateway names no host', async () => {
    const { body, statusCode, headers, config } = await ask('/openapi.json', {
      context: { domainName: undefined },
    });
    expect(body === JSON.stringify(openApiDocument('/', 'api://reports/.default', config))).toBe(true);
    expect([statusCode, headers]).toEqual(cachedBy('private'));
  });

  it('GET /reporting/fields has the currency, access and limits of the stage', async () => {
    const endpoint = { ACCESS_TOKEN_ENDPOINT: 'https://login.example/token' };
    const limits = { LONGEST_QUERY_MS: '1500', REQUESTS_PER_SECOND: '20.25' };
    const env = { CURRENCY: 'EUR', ACCESS_CONTACT: 'reports@example.com', ...endpoint, ...limits };
    const { body, statusCode, headers, config } = await ask('/reporting/fields', { env });
    const described = JSON.parse(body);
    expect(described).toEqual(JSON.parse(JSON.stringify(describeFields(config))));
    expect(described).toMatchObject({
      currency: 'EUR',
      access: { tokenEndpoint: 'https://login.example/token', contact: 'reports@example.com' },
      limits: { longestReportSeconds: 2, requestsPerSecond: 20.25 },
    });
    expect([statusCode, headers]).toEqual(cachedBy('public'));
    const fields: { name: string; values: object }[] = described.reports[0].fields;
    const looks = fields.map(({ name, values }) => [name, Object.values(values).join(' | ')]);
    expect(Object.fromEntries(looks)).toMatchObject({
      DateTime: '2026-02-01T13:00:00Z | hour, UTC | the instant at which the hour begins',
      Day: '2026-02-01T00:00:00Z | day, UTC | the midnight that begins the day',
      DeviceOrProxy: 'Mobile | text | as recorded; capital letters count',
      PlacementId: '9007199254740993 | identifier | exact integer, 64 bits',
      Clicks: '1234 | count | exact integer, 64 bits',
      Revenue: '12.345600 | amount of money | exact decimal, six places',
    });
  });
});

describe('GET /', () => {
  it.each([
    ['/', '/page/page.js?v=abc'],
    ['/dev', '/dev/page/page.js?v=abc'],
    ['/dev/', '/dev/page/page.js?v=abc'],
    ['/reports/v1/', '/reports/v1/page/page.js?v=abc'],
    // These paths could name another host, or end the attribute `src`, so the page leaves them out.
    ['//evil.example/', '/page/page.js?v=abc'],
    ['/"><script>/', '/page/page.js?v=abc'],
  ])('gives a page that loads its files from the address of the service: %s', async (path, src) => {
    const body = `<script src="${src}">`;
    expect(await ask('/', { context: { path } })).toMatchObject({ statusCode: 200, body });
  });

  it('allows connections only to its own host and the hosts of downloads, and must be revalidated before reuse', async () => {
    expect((await ask('/')).headers).toEqual({
      ...COMMON,
      'Content-Type': 'text/html',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; worker-src 'self'; " +
        `connect-src 'self' ${downloadOrigins.join(' ')}; base-uri 'none'; form-action 'none'; ` +
        "frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
  });
});

describe('GET /page/{file}', () => {
  const file = (name: string, more: Asked = {}) =>
    ask(`/page/${name}`, { pathParameters: { file: name }, ...more });

  it.each<[string, Record<string, string[]>, string]>([
    ['cached for a year if this one was requested', { v: ['abc'] }, 'public, max-age=31536000, immutable'],
    ['revalidated before reuse if another version was requested', { v: ['old'] }, 'no-cache'],
    ['revalidated before reuse if no version was requested', { w: ['abc'] }, 'no-cache'],
  ])('gives the file as it was built, with the page’s policy, %s', async (_, parameters, expected) => {
    const policy = expect.stringContaining("default-src 'none'");
    const headers = { 'Content-Type': 'text/javascript', 'Cache-Control': expected };
    const answer = { body: 'run("{{base}}")', headers: { ...headers, 'Content-Security-Policy': policy } };
    expect(await file('page.js', { parameters })).toMatchObject(answer);
  });

  it.each(['nosuch.js', 'page.html', '../page.js', '__proto__'])('answers 404 for %s', async (name) => {
    expect((await file(name)).statusCode).toBe(404);
  });
});

describe('all else', () => {
  it.each([
    ['/nothing', {}],
    ['/openapi.json', { method: 'DELETE' }],
    ['/reporting/fields', { method: 'OPTIONS' }],
  ])('is answered with a 404 and a problem document: %s %j', async (path, more) => {
    const { statusCode, headers, body } = await ask(path, more);
    expect([statusCode, headers?.['Content-Type']]).toEqual([404, 'application/problem+json']);
    const problem = { status: 404, title: 'Not found', instance: 'urn:uuid:request-1' };
    expect(JSON.parse(body)).toMatchObject(problem);
  });

  it('leads from /docs/ to /docs, on every base path', async () => {
    const { statusCode, headers } = await ask('/docs/', { context: { path: '/prod/docs/' } });
    expect([statusCode, headers?.['Location']]).toEqual([308, '../docs']);
  });
});

describe('the files of the page', () => {
  const folder = folderOfEach();
  async function pageOf(texts: Readonly<Record<string, string>>) {
    await mkdir(join(folder(), 'docs'), { recursive: true });
    for (const [name, text] of Object.entries(texts)) await writeFile(join(folder(), name), text);
    return readPageFiles(folder());
  }
  const FILES = { 'b.js': 'js ü', 'a.html': 'html', 'c.css': 'css', 'd.svg': 'svg' };

  it('have the media types of their extensions; a file with another extension is left out', async () => {
    const documents = { 'docs/e.txt': 'txt', 'docs/f.py': 'py', 'docs/g.yaml': 'yaml' };
    const { byName } = await pageOf({ ...FILES, ...documents, 'page.js.map': 'map' });
    const texts = [...byName].map(([name, { mediaType, body }]) => `${name} ${mediaType} ${body}`).sort();
    expect(texts).toEqual([
      ...['a.html text/html; charset=utf-8 html', 'b.js text/javascript; charset=utf-8 js ü'],
      ...['c.css text/css; charset=utf-8 css', 'd.svg image/svg+xml svg'],
      ...['docs/e.txt text/plain; charset=utf-8 txt', 'docs/f.py text/x-python; charset=utf-8 py'],
      'docs/g.yaml application/yaml; charset=utf-8 yaml',
    ]);
  });

  it('have a version of twelve hexadecimal digits: a hash of their contents in the order of their names', async () => {
    const { version } = await pageOf(FILES);
    expect(version).toBe(createHash('sha256').update('htmljs ücsssvg').digest('hex').slice(0, 12));
    expect((await pageOf({ ...FILES, 'c.css': 'changed' })).version).not.toBe(version);
  });
});
