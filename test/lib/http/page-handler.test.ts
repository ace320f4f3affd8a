import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../lib/config.ts';
import { pageHandler } from '../../../lib/http/page-handler.ts';
import type { LoggedContext } from '../../../lib/http/request-log.ts';
import { LEAST_ENVIRONMENT } from '../../least-environment.ts';

const files = {
  version: 'abc',
  byName: new Map([
    [
      'page.html',
      {
        mediaType: 'text/html',
        body: '<html><script src="{{base}}/page/page.js?v={{version}}">',
      },
    ],
    ['page.js', { mediaType: 'text/javascript', body: 'run("{{base}}")' }],
  ]),
};
const handler = pageHandler({
  config: readConfig(LEAST_ENVIRONMENT),
  log: { info: () => {}, error: () => {} },
  metrics: { addMetric: () => {}, publishStoredMetrics: () => {} } as never,
  files,
  downloadOrigins: ['https://results.s3.eu-west-1.amazonaws.com', 'https://edge.example'],
});

const ask = (
  path: string,
  {
    file,
    v,
    resource = file === undefined ? '/' : '/page/{file}',
  }: { file?: string; v?: string; resource?: string } = {},
) =>
  handler(
    {
      httpMethod: 'GET',
      resource,
      pathParameters: file === undefined ? null : { file },
      multiValueQueryStringParameters: v === undefined ? null : { v: [v] },
      requestContext: { path, requestId: 'request' },
    } as unknown as APIGatewayProxyEvent,
    {} as LoggedContext,
  ) as Promise<APIGatewayProxyResult>;

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
    const { statusCode, body } = await ask(path);
    expect(statusCode).toBe(200);
    expect(body).toBe(`<html><script src="${src}">`);
  });

  it('allows connections only to its own host and the hosts of downloads, and must be revalidated before reuse', async () => {
    expect((await ask('/')).headers).toEqual({
      'Content-Type': 'text/html',
      'Cache-Control': 'no-cache',
      'Service-Version': 'unknown',
      Vary: 'Accept-Encoding',
      'Content-Security-Policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; worker-src 'self'; " +
        "connect-src 'self' https://results.s3.eu-west-1.amazonaws.com https://edge.example; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
      'Strict-Transport-Security': 'max-age=31536000',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
  });
});

describe('GET /page/{file}', () => {
  it('gives the file as it was built, with a content security policy', async () => {
    const { body, headers } = await ask('/dev/page/page.js', { file: 'page.js' });
    expect(body).toBe('run("{{base}}")');
    expect(headers).toMatchObject({
      'Content-Type': 'text/javascript',
      'Content-Security-Policy': expect.stringContaining("default-src 'none'"),
    });
  });

  it.each([
    ['cached for a year if this version was requested', 'abc', 'public, max-age=31536000, immutable'],
    ['revalidated before reuse if another version was requested', 'old', 'no-cache'],
    ['revalidated before reuse if no version was requested', undefined, 'no-cache'],
  ])('gives a file that is %s', async (_, v, expected) => {
    const { headers } = await ask('/page/page.js', { file: 'page.js', ...(v !== undefined && { v }) });
    expect(headers?.['Cache-Control']).toBe(expected);
  });

  it.each(['nosuch.js', 'page.html', '../page.js', '__proto__'])('answers 404 for %s', async (file) => {
    const { statusCode, headers, body } = await ask(`/page/${file}`, { file });
    expect(statusCode).toBe(404);
    expect(headers?.['Content-Type']).toBe('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ title: 'Not found', instance: 'urn:uuid:request' });
  });
});
