import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { requestHeader } from '../../../lib/http/request-header.ts';

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
