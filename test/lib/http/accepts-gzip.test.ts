import { expect, it } from 'vitest';
import { acceptsGzip } from '../../../lib/http/request-header.ts';

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
