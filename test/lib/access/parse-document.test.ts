import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../../lib/access/partner-record.ts';

describe('parseDocument', () => {
  it.each([
    '{}',
    '[]',
    '"a:b"',
    'null',
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}',
    '{"a":{"a":{"a":"\\\\"}},"\\\\\\"":1,"":":"}',
    '{"__proto__":{"a":1},"constructor":2,"toJSON":3}',
    '{"b":1e999,"1":-0,"0":1.0}',
    '{"a":"\\u003a"}',
  ])('gives the value of %s', (text) => {
    expect(parseDocument(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['', 'an empty text'],
    ['{', 'no JSON'],
    ['{"a":1,"a":1}', 'a member twice'],
    ['[{"b":{"a":1,"b":2,"a":3}}]', 'a member twice, in an inner object'],
    ['{"a":1,"\\u0061":1}', 'a member twice, written in two ways'],
    ['{"":1,"":2}', 'a member with an empty name twice'],
    ['{"__proto__":1,"__proto__":2}', 'the member __proto__ twice'],
    ['{"a":{"b":1},"a":{"b":1,"c":2}}', 'a member twice, the last one with more members'],
    ['{"a":{"b":1,"c":2},"a":{}}', 'a member twice, the last one empty'],
  ])('gives undefined for %s: %s', (text) => {
    expect(parseDocument(text)).toBeUndefined();
  });
});
