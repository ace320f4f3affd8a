import { generateKeyPairSync } from 'node:crypto';
import type { Jwk } from 'aws-jwt-verify/jwk';
import { describe, expect, it } from 'vitest';
import { KeySet, KeySetUnavailable } from '../../../lib/token/key-set.ts';

const jwk = (kid: string): Jwk => ({
  ...(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) as Jwk),
  kid,
  alg: 'ES256',
  use: 'sig',
});
const [first, second] = [jwk('first'), jwk('second')];

const uri = 'https://provider.example/jwks';
const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;
const tokenOf = (kid: string | undefined) => ({ header: { alg: 'ES256', ...(kid && { kid }) }, payload: {} });

const MINUTE = 60_000;

/** A provider whose keys and clock the test sets. */
function provider(keys: readonly Jwk[]) {
  const state = { keys, isDown: false, reads: 0, time: 1_000_000_000_000, pauses: [] as number[] };
  const keySet = new KeySet({
    read: async () => {
      state.reads += 1;
      if (state.isDown) throw new KeySetUnavailable('down');
      return bytes(JSON.stringify({ keys: state.keys }));
    },
    now: () => state.time,
    pause: async (milliseconds) => {
      state.pauses.push(milliseconds);
      state.time += milliseconds;
    },
  });
  const finds = (kid: string | undefined) =>
    keySet.getJwk(uri, tokenOf(kid)).then(
      (key) => key.kid === kid,
      (error: unknown) => {
        if (error instanceof KeySetUnavailable) throw error;
        return false;
      },
    );
  return { state, finds };
}

describe('the key set', () => {
  it('is read once for many tokens', async () => {
    const { state, finds } = provider([first, second]);
    const found = await Promise.all(['first', 'second', 'first'].map(finds));
    expect([found, await finds('first'), state.reads]).toEqual([[true, true, true], true, 1]);
  });

  it('is read again after ten minutes, so that a withdrawn key is no longer good', async () => {
    const { state, finds } = provider([first, second]);
    await finds('first');
    state.keys = [second];
    state.time += 10 * MINUTE - 1;
    expect(await finds('first')).toBe(true);
    state.time += 1;
    expect(await finds('first')).toBe(false);
  });

  it('has a new key at once, also after tokens with invented key ids', async () => {
    const { state, finds } = provider([first]);
    expect(await Promise.all(['first', 'invented', 'another'].map(finds))).toEqual([true, false, false]);
    state.keys = [first, second];
    expect(await finds('second')).toBe(true);
  });

  it('is not read more often than every two seconds, whatever key ids are invented', async () => {
    const { state, finds } = provider([first]);
    const began = state.time;
    for (let times = 0; times < 20; times++) await finds(`invented-${times}`);
    expect(state.reads).toBeLessThanOrEqual(1 + (state.time - began) / 2_000);
  });

  it('pauses before another read until two seconds have passed since the last', async () => {
    const { state, finds } = provider([first]);
    await finds('first');
    state.time += 500;
    await finds('invented');
    expect(state.pauses).toEqual([1_500]);
    state.time += 2_000;
    await finds('another');
    expect(state.pauses).toEqual([1_500]);
  });

  it('stays good for an hour while the provider is down, and makes an internal error after that', async () => {
    const { state, finds } = provider([first]);
    await finds('first');
    state.isDown = true;
    state.time += 60 * MINUTE - 1;
    expect(await finds('first')).toBe(true);
    state.time += 1;
    await expect(finds('first')).rejects.toThrow(new KeySetUnavailable('down'));
  });

  it('has no key for a token that names none', async () => {
    expect(await provider([first]).finds(undefined)).toBe(false);
  });

  it.each([['"a list"'], ['{"keys":"none"}'], ['{"keys":[{"kid":"first"}]}'], ['<html>'], ['']])(
    'is an internal error where the provider answers %s',
    async (answer) => {
      const keySet = new KeySet({ read: async () => bytes(answer), now: Date.now, pause: async () => {} });
      await expect(keySet.getJwk(uri, tokenOf('first'))).rejects.toMatchObject({
        constructor: KeySetUnavailable,
        message: 'The key server answers with no key set',
        cause: expect.any(Error),
      });
    },
  );
});
