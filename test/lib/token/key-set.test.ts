import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { KeySetUnavailable, keySet } from '../../../lib/token/key-set.ts';

const jwk = async (kid: string): Promise<JWK> => ({
  ...(await exportJWK((await generateKeyPair('ES256')).publicKey)),
  kid,
  alg: 'ES256',
  use: 'sig',
});
const [first, second] = await Promise.all([jwk('first'), jwk('second')]);

const MINUTE = 60_000;

/** A provider whose keys and whose clock the test moves. */
function provider(keys: readonly JWK[]) {
  const state = { keys, isDown: false, reads: 0, time: 1_000_000_000_000 };
  const find = keySet({
    read: async () => {
      state.reads += 1;
      if (state.isDown) throw new KeySetUnavailable('down');
      return { keys: state.keys };
    },
    now: () => state.time,
    pause: async (milliseconds) => {
      state.time += milliseconds;
    },
  });
  const finds = (kid: string | undefined) =>
    Promise.resolve(find({ alg: 'ES256', ...(kid && { kid }) }, { payload: '', signature: '' })).then(
      () => true,
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
    state.time += 9 * MINUTE;
    expect(await finds('first')).toBe(true);
    state.time += 2 * MINUTE;
    expect(await finds('first')).toBe(false);
  });

  it('has a new key at once, also after tokens with invented ones', async () => {
    const { state, finds } = provider([first]);
    expect(await Promise.all(['first', 'invented', 'another'].map(finds))).toEqual([true, false, false]);
    state.keys = [first, second];
    expect(await finds('second')).toBe(true);
  });

  it('is not read more often than every two seconds, whatever is invented', async () => {
    const { state, finds } = provider([first]);
    const began = state.time;
    for (let times = 0; times < 20; times++) await finds(`invented-${times}`);
    expect(state.reads).toBeLessThanOrEqual(1 + (state.time - began) / 2_000);
  });

  it('stays good for an hour while the provider is down, and is our fault then', async () => {
    const { state, finds } = provider([first]);
    await finds('first');
    state.isDown = true;
    state.time += 59 * MINUTE;
    expect(await finds('first')).toBe(true);
    state.time += 2 * MINUTE;
    await expect(finds('first')).rejects.toThrow(KeySetUnavailable);
  });

  it('has no key for a token that names none', async () => {
    expect(await provider([first]).finds(undefined)).toBe(false);
  });

  it.each([['a list'], [{ keys: 'none' }], [undefined]])(
    'is our fault where the provider answers %j',
    async (answer) => {
      const find = keySet({ read: async () => answer, now: Date.now, pause: async () => {} });
      await expect(find({ alg: 'ES256', kid: 'first' }, { payload: '', signature: '' })).rejects.toThrow(
        KeySetUnavailable,
      );
    },
  );
});
