import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { acceptsGzip, requestHeader, serviceUrl } from '../../../lib/http/request-header.ts';
import { requestEvent } from './setting.ts';

const headerOf = (multiValueHeaders: unknown) =>
  requestHeader({ multiValueHeaders } as APIGatewayProxyEvent, 'accept');

describe('requestHeader', () => {
  it('joins all values, even if the name is written in several ways', () => {
    expect(headerOf({ Host: ['x'], accept: ['a', 'b'], aCCEPT: ['c'], 'Accept-X': ['en'] })).toBe('a, b, c');
  });

  it.each([null, undefined, {}, { accept: [] }, { accept: undefined }, { 'x-accept': ['a'] }])(
    'is undefined if the request has no such header (%j)',
    (headers) => {
      expect(headerOf(headers)).toBeUndefined();
    },
  );
});

it.each([
  ...['gzip', 'deflate;q=1, gzip;q=0.1', '*'].map((one) => [one, true] as const),
  ...[undefined, '', 'br, deflate', 'gzip;q=0.0, *', '*;q=0', 'gzipped'].map((one) => [one, false] as const),
])('with Accept-Encoding %j, the caller accepts gzip: %s', (header, expected) => {
  expect(acceptsGzip(header)).toBe(expected);
});

const PATH = '/openapi.json';
const urlOf = (domainName: string | undefined, path: string, multiValueHeaders = {}) => {
  const requestContext = { domainName, path };
  return serviceUrl({ resource: PATH, requestContext, multiValueHeaders } as unknown as APIGatewayProxyEvent);
};
const forwarded = (scheme: string, port: string) => ({
  'X-Forwarded-Proto': [scheme],
  'X-Forwarded-Port': [port],
});
const https = forwarded('https', '443');
const gateway = 'abc123.execute-api.eu-west-1.amazonaws.com';

describe('serviceUrl', () => {
  it.each<[string, string, string, Record<string, string[]>, string]>([
    ['a stage', gateway, `/prod${PATH}`, https, `https://${gateway}/prod`],
    ['a base path', 'api.example', `/reports/v1${PATH}`, https, 'https://api.example/reports/v1'],
    ['the one-machine stack', '127.0.0.1', PATH, forwarded('http', '8080'), 'http://127.0.0.1:8080'],
    ['HTTP’s own port', 'reports.example', PATH, forwarded('http', '80'), 'http://reports.example'],
    ['no forwarded scheme', 'reports.example', PATH, {}, 'https://reports.example'],
  ])('gives the address of the service for %s', (_, domainName, path, headers, expected) => {
    expect(urlOf(domainName, path, headers)).toBe(expected);
  });

  it('is that of a route with parameters too', () => {
    const event = requestEvent({ path: '/hops/T-1/2', pathParameters: { ticket: 'T-1', hop: '2' } });
    expect(serviceUrl(event)).toBe('https://api.example/prod');
  });

  it.each<[string, Record<string, string[]>]>([
    ['the Host header', { ...https, Host: ['evil.example'] }],
    ['a scheme that is not HTTP', { ...https, 'X-Forwarded-Proto': ['javascript'] }],
    ['a port that is no number', { ...https, 'X-Forwarded-Port': ['8443@evil.example'] }],
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
