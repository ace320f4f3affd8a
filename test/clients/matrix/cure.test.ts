import { describe, expect, it } from 'vitest';
import { kindOf } from './cure.ts';

const kind = (program: string, ...cures: { from: string; to: string }[]) =>
  kindOf({ name: 'a client', program, ...(cures.length > 0 && { why: 'fails', cures }) } as Parameters<
    typeof kindOf
  >[0]);

describe('how a client works', () => {
  it('is as it comes without a cure', () => {
    expect(kind('get(url)')).toBe('as it comes');
  });

  it.each([
    ['in a call that is there', 'get(url, token)', { from: 'token)', to: 'token, redirects=30)' }],
    ['in place of one word', 'Client::new();', { from: 'new()', to: 'builder().redirects(30).build()' }],
    ['in a line of its own', 'get(url)', { from: 'get', to: 'timeout(1200)\nget' }],
  ])('is an option %s', (_, program, cure) => {
    expect(kind(program, cure)).toBe('an option');
  });

  it('is an option where two lines are extended', () => {
    const cures = [
      { from: '()', to: '(timeout=60)' },
      { from: 'url)', to: 'url, redirects=30)' },
    ];
    expect(kind('open()\nget(url)', ...cures)).toBe('an option');
  });

  it.each([
    ['another client in the same line', 'wget url', { from: 'wget url', to: 'curl -o out url' }],
    ['a line that goes', 'get(url)\nsave()', { from: '\nsave()', to: '' }],
    ['two lines more', 'get(url)', { from: 'get(url)', to: 'get(url)\nwhile moved:\n  get(next)' }],
    ['a line extended and one more', 'get(url)', { from: 'url)', to: 'url, 30)\nhandler()' }],
  ])('is a rewrite with %s', (_, program, cure) => {
    expect(kind(program, cure)).toBe('rewrite');
  });
});
