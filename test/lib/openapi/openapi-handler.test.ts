import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { serviceUrl } from '../../../lib/http/request-header.ts';
import { openApiDocument } from '../../../lib/openapi/document.ts';
import { openApiHandler } from '../../../lib/openapi/public-handlers.ts';
import { functionSetting, invoke, requestEvent } from '../http/setting.ts';

const SCOPE = 'api://reports/.default';
const { access, longestQueryMs, queriesPerPartner, requestsPerSecond } =
  functionSetting().dependencies.config;
const documentAt = (url: string) =>
  JSON.stringify(
    openApiDocument({
      url,
      scope: SCOPE,
      commit: 'unknown',
      tokenEndpoint: access.tokenEndpoint,
      queriesAtATime: queriesPerPartner,
      requestsPerSecond,
      longestReportSeconds: longestQueryMs / 1_000,
    }),
  );
const ask = async (domainName?: string) => {
  const { dependencies, lines } = functionSetting();
  const event = requestEvent({ path: '/openapi.json' });
  const answer = await invoke(openApiHandler(dependencies), {
    ...event,
    requestContext: { ...event.requestContext, domainName },
  } as typeof event);
  return { answer, lines };
};

describe('GET /openapi.json', () => {
  it('gives the document with the address that the caller used; only private caches may keep it', async () => {
    const { answer, lines } = await ask('api.example');
    expect(answer.body === documentAt('https://api.example/prod')).toBe(true);
    expect({ ...answer, body: '' }).toEqual({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'private, max-age=300',
        Vary: 'Accept-Encoding',
        'Service-Version': 'unknown',
        'X-Content-Type-Options': 'nosniff',
        'Strict-Transport-Security': 'max-age=31536000',
      },
      body: '',
    });
    expect(lines).toMatchObject([{ level: 'info', facts: { status: 200 } }]);
  });

  it('gives "/" as the address when the gateway names no host', async () => {
    const { answer } = await ask();
    expect(answer.body === documentAt('/')).toBe(true);
  });
});

const urlOf = (domainName: string | undefined, path: string, headers: Record<string, string[]> = {}) =>
  serviceUrl({
    resource: '/openapi.json',
    requestContext: { domainName, path },
    multiValueHeaders: headers,
  } as unknown as APIGatewayProxyEvent);
const https = { 'X-Forwarded-Proto': ['https'], 'X-Forwarded-Port': ['443'] };
const gateway = 'abc123.execute-api.eu-west-1.amazonaws.com';

describe('serviceUrl', () => {
  it.each<[string, string, string, Record<string, string[]>, string]>([
    ['a stage', gateway, '/prod/openapi.json', https, `https://${gateway}/prod`],
    ['a custom domain', 'reports.example', '/openapi.json', https, 'https://reports.example'],
    ['a base path', 'api.example', '/reports/v1/openapi.json', https, 'https://api.example/reports/v1'],
    [
      'the one-machine stack',
      '127.0.0.1',
      '/openapi.json',
      { 'x-forwarded-proto': ['http'], 'x-forwarded-port': ['8080'] },
      'http://127.0.0.1:8080',
    ],
    [
      'the default port of HTTP',
      'reports.example',
      '/openapi.json',
      { 'x-forwarded-proto': ['http'], 'x-forwarded-port': ['80'] },
      'http://reports.example',
    ],
    ['a host of one letter', 'x', '/openapi.json', https, 'https://x'],
    ['no forwarded scheme', 'reports.example', '/openapi.json', {}, 'https://reports.example'],
  ])('gives the address of the service for %s', (_, domainName, path, headers, expected) => {
    expect(urlOf(domainName, path, headers)).toBe(expected);
  });

  it.each<[string, Record<string, string[]>]>([
    ['the Host header', { ...https, Host: ['evil.example'] }],
    ['a forwarded host', { ...https, 'X-Forwarded-Host': ['evil.example'] }],
    ['a scheme that is not HTTP', { ...https, 'X-Forwarded-Proto': ['javascript'] }],
    ['two schemes', { ...https, 'X-Forwarded-Proto': ['http', 'https'] }],
    ['a port that is no number', { ...https, 'X-Forwarded-Port': ['8443@evil.example'] }],
    ['a host before the port', { ...https, 'X-Forwarded-Port': ['evil.example:8443'] }],
    ['a port that is too long', { ...https, 'X-Forwarded-Port': ['844384'] }],
  ])('ignores %s', (_, headers) => {
    expect(urlOf('reports.example', '/openapi.json', headers)).toBe('https://reports.example');
  });

  it.each<[string, string | undefined, string]>([
    ['no host', undefined, '/openapi.json'],
    ['a host that contains a path', 'evil.example/?', '/openapi.json'],
    ['a user before the host', 'x@evil.example', '/openapi.json'],
    ['a host that ends with a dot', 'evil.example.', '/openapi.json'],
    ['the path of another route', 'reports.example', '/other'],
  ])('is undefined for %s', (_, domainName, path) => {
    expect(urlOf(domainName, path, https)).toBeUndefined();
  });
});
