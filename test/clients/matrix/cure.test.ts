import { describe, expect, it } from 'vitest';
import { kindOf } from './cure.ts';

const kind = (program: string, ...cures: { from: string; to: string }[]) =>
  kindOf({ name: 'a client', program, ...(cures.length > 0 && { why: 'fails', cures }) } as Parameters<
    typeof kindOf
  >[0]);

describe('the word for what a client needs', () => {
  it('is "as it comes" if the client’s program needs no change', () => {
    expect(kind('get(url)')).toBe('as it comes');
  });

  it.each([
    [
      'an argument added to an existing call',
      'get(url, token)',
      { from: 'token)', to: 'token, redirects=30)' },
    ],
    ['one word replaced', 'Client::new();', { from: 'new()', to: 'builder().redirects(30).build()' }],
    ['one line added', 'get(url)', { from: 'get', to: 'timeout(1200)\nget' }],
  ])('is "an option" if the change is: %s', (_, program, cure) => {
    expect(kind(program, cure)).toBe('an option');
  });

  it('is "an option" if the change extends two lines', () => {
    const cures = [
      { from: '()', to: '(timeout=60)' },
      { from: 'url)', to: 'url, redirects=30)' },
    ];
    expect(kind('open()\nget(url)', ...cures)).toBe('an option');
  });

  it.each([
    ['another client in the same line', 'wget url', { from: 'wget url', to: 'curl -o out url' }],
    ['a line removed', 'get(url)\nsave()', { from: '\nsave()', to: '' }],
    ['two lines added', 'get(url)', { from: 'get(url)', to: 'get(url)\nwhile moved:\n  get(next)' }],
    ['one line extended and one added', 'get(url)', { from: 'url)', to: 'url, 30)\nhandler()' }],
  ])('is "rewrite" if the change is: %s', (_, program, cure) => {
    expect(kind(program, cure)).toBe('rewrite');
  });
});
