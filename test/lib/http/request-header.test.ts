import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { acceptsGzip, requestHeader } from '../../../lib/http/request-header.ts';

const headerOf = (multiValueHeaders: unknown) =>
  requestHeader({ multiValueHeaders } as APIGatewayProxyEvent, 'accept');

describe('requestHeader', () => {
  it.each(['accept', 'Accept', 'ACCEPT', 'aCCept'])('finds a header written as %s', (name) => {
    expect(headerOf({ Host: ['x'], [name]: ['text/csv'], 'Accept-Language': ['en'] })).toBe('text/csv');
  });

  it('joins all values, even if the name is written in several ways', () => {
    expect(headerOf({ accept: ['a', 'b'], Accept: ['c'] })).toBe('a, b, c');
  });

  it.each([null, undefined, {}, { accept: [] }, { accept: undefined }, { 'x-accept': ['a'] }])(
    'is undefined if the request has no such header (%j)',
    (headers) => {
      expect(headerOf(headers)).toBeUndefined();
    },
  );

  it('may be an empty text', () => {
    expect(headerOf({ accept: [''] })).toBe('');
  });
});

it.each([
  ['gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['GZIP', true],
  ['deflate;q=1, gzip;q=0.1', true],
  ['*', true],
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br, deflate', false],
  ['gzip;q=0', false],
  ['gzip;q=0.0, *', false],
  ['*;q=0', false],
  ['gzipped', false],
])('with Accept-Encoding %j, the caller accepts gzip: %s', (header, expected) => {
  expect(acceptsGzip(header)).toBe(expected);
});
