import { generateKeyPairSync } from 'node:crypto';
import type { Jwk } from 'aws-jwt-verify/jwk';
import { describe, expect, it } from 'vitest';
import { KeySet, KeySetUnavailable } from '../../../lib/access/key-set.ts';

const jwk = (kid: string): Jwk => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...(publicKey.export({ format: 'jwk' }) as Jwk), kid, alg: 'ES256', use: 'sig' };
};
const [first, second] = [jwk('first'), jwk('second')];

const uri = 'https://provider.example/jwks';
const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;
const tokenOf = (kid: string | undefined) => ({ header: { alg: 'ES256', ...(kid && { kid }) }, payload: {} });

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

type Outcome = 'found' | 'refused' | 'unavailable';

/**
 * A provider whose keys and clock the test sets. While the provider hangs, a read ends only when the test releases it.
 */
function provider(keys: readonly Jwk[]) {
  const state = { keys, isDown: false, reads: 0, time: 1_000_000_000_000, hangs: Promise.resolve() };
  const keySet = new KeySet({
    read: async () => {
      state.reads += 1;
      await state.hangs;
      if (state.isDown) throw new KeySetUnavailable('down');
      return bytes(JSON.stringify({ keys: state.keys }));
    },
    now: () => state.time,
  });
  const finds = (kid: string | undefined): Promise<Outcome> =>
    keySet.getJwk(uri, tokenOf(kid)).then(
      (key) => (key.kid === kid ? 'found' : 'refused'),
      (error: unknown) => (error instanceof KeySetUnavailable ? 'unavailable' : 'refused'),
    );
  const hang = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    state.hangs = promise;
    return resolve;
  };
  return { state, finds, hang };
}

/**
 * One step of a case: its time since the first step, what the provider does from then on, and which key a caller asks
 * for.
 */
interface Step {
  readonly at: number;
  readonly keys?: readonly Jwk[];
  readonly isDown?: boolean;
  readonly kid: string | undefined;
  readonly gets: Outcome;
  /** How often the key set has been read up to this step. */
  readonly reads: number;
}

const CASES: readonly (readonly [string, readonly Step[]])[] = [
  [
    'refuses an invented key without a read within ten seconds of the last read, and later only after one more read',
    [
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 1, kid: 'invented', gets: 'refused', reads: 1 },
      { at: 10 * SECOND - 1, kid: 'another', gets: 'refused', reads: 1 },
      { at: 10 * SECOND, kid: 'another', gets: 'refused', reads: 2 },
      { at: 20 * SECOND - 1, kid: 'invented', gets: 'refused', reads: 2 },
      { at: 20 * SECOND, kid: 'invented', gets: 'refused', reads: 3 },
    ],
  ],
  [
    'refuses an invented key after one read, even if that key comes first',
    [
      { at: 0, kid: 'invented', gets: 'refused', reads: 1 },
      { at: 0, kid: 'invented', gets: 'refused', reads: 1 },
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
    ],
  ],
  [
    'finds a new key at once if the last read was at least ten seconds ago',
    [
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 10 * SECOND, keys: [first, second], kid: 'second', gets: 'found', reads: 2 },
      { at: 10 * SECOND, kid: 'first', gets: 'found', reads: 2 },
    ],
  ],
  [
    'finds a new key within ten seconds, even while tokens with invented keys keep coming',
    [
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 10 * SECOND, kid: 'invented', gets: 'refused', reads: 2 },
      { at: 10 * SECOND + 1, keys: [first, second], kid: 'second', gets: 'refused', reads: 2 },
      { at: 15 * SECOND, kid: 'invented', gets: 'refused', reads: 2 },
      { at: 20 * SECOND, kid: 'second', gets: 'found', reads: 3 },
    ],
  ],
  [
    'never reads for a token that names no key',
    [
      { at: 0, kid: undefined, gets: 'refused', reads: 0 },
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 11 * MINUTE, kid: undefined, gets: 'refused', reads: 1 },
    ],
  ],
  [
    'reads again after ten minutes, and then refuses a withdrawn key',
    [
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 10 * MINUTE - 1, keys: [second], kid: 'first', gets: 'found', reads: 1 },
      { at: 10 * MINUTE, kid: 'first', gets: 'refused', reads: 2 },
    ],
  ],
  [
    'is unavailable for unknown keys while the provider is down, and asks the provider at most every two seconds; known keys stay valid',
    [
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 9 * SECOND, isDown: true, kid: 'invented', gets: 'refused', reads: 1 },
      { at: 10 * SECOND, kid: 'invented', gets: 'unavailable', reads: 2 },
      { at: 12 * SECOND - 1, kid: 'another', gets: 'unavailable', reads: 2 },
      { at: 12 * SECOND - 1, kid: 'first', gets: 'found', reads: 2 },
      { at: 12 * SECOND, kid: 'another', gets: 'unavailable', reads: 3 },
      { at: 14 * SECOND, isDown: false, kid: 'another', gets: 'refused', reads: 4 },
      { at: 15 * SECOND, kid: 'invented', gets: 'refused', reads: 4 },
    ],
  ],
  [
    'is unavailable for every key if the provider is down from the beginning',
    [
      { at: 0, isDown: true, kid: 'first', gets: 'unavailable', reads: 1 },
      { at: 2 * SECOND - 1, isDown: false, kid: 'first', gets: 'unavailable', reads: 1 },
      { at: 2 * SECOND, kid: 'first', gets: 'found', reads: 2 },
    ],
  ],
  [
    'keeps keys for an hour while the provider is down, and asks the provider at most every two seconds',
    [
      { at: 0, kid: 'first', gets: 'found', reads: 1 },
      { at: 30 * MINUTE, isDown: true, kid: 'first', gets: 'found', reads: 2 },
      { at: 30 * MINUTE + 2 * SECOND - 1, kid: 'first', gets: 'found', reads: 2 },
      { at: 60 * MINUTE - 1, kid: 'first', gets: 'found', reads: 3 },
      { at: 60 * MINUTE, kid: 'first', gets: 'unavailable', reads: 3 },
      { at: 60 * MINUTE + 2 * SECOND, isDown: false, kid: 'first', gets: 'found', reads: 4 },
    ],
  ],
  [
    'reads again after the clock was set back, and then refuses a withdrawn key',
    [
      { at: 22 * HOUR, kid: 'first', gets: 'found', reads: 1 },
      { at: 0, keys: [second], kid: 'first', gets: 'refused', reads: 2 },
      { at: 0, kid: 'second', gets: 'found', reads: 2 },
    ],
  ],
  [
    'counts a failed read for two seconds at most, even if the clock is set back',
    [
      { at: 22 * HOUR, isDown: true, kid: 'first', gets: 'unavailable', reads: 1 },
      { at: 0, isDown: false, kid: 'first', gets: 'found', reads: 2 },
    ],
  ],
  [
    'does not keep keys of an unknown age while the provider is down',
    [
      { at: 22 * HOUR, kid: 'first', gets: 'found', reads: 1 },
      { at: 0, isDown: true, kid: 'first', gets: 'unavailable', reads: 2 },
    ],
  ],
];

describe('the key set', () => {
  it.each(CASES)('%s', async (_, steps) => {
    const { state, finds } = provider([first]);
    const began = state.time;
    const seen: Step[] = [];
    for (const step of steps) {
      state.time = began + step.at;
      state.keys = step.keys ?? state.keys;
      state.isDown = step.isDown ?? state.isDown;
      seen.push({ ...step, gets: await finds(step.kid), reads: state.reads });
    }
    expect(seen).toEqual(steps);
  });

  it('is read once for many tokens that need it at the same time', async () => {
    const { state, finds } = provider([first, second]);
    const found = await Promise.all(['first', 'second', 'first', 'invented'].map(finds));
    expect([found, state.reads]).toEqual([['found', 'found', 'found', 'refused'], 1]);
  });

  it('is read once for all unknown keys that come at the same time; known keys do not wait', async () => {
    const { state, finds, hang } = provider([first]);
    await finds('first');
    state.time += 10 * SECOND;
    const letGo = hang();
    const unknown = Array.from({ length: 60 }, (_, index) => finds(`invented-${index}`));
    state.keys = [first, second];
    state.time += SECOND;
    expect(await finds('first')).toBe('found');
    const late = finds('second');
    letGo();
    expect([new Set(await Promise.all(unknown)), await late]).toEqual([new Set(['refused']), 'found']);
    expect(state.reads).toBe(2);
  });

  it('is unavailable for all callers that share a failed read', async () => {
    const { state, finds, hang } = provider([first]);
    const letGo = hang();
    const waiting = [finds('first'), finds('invented')];
    state.isDown = true;
    letGo();
    expect([await Promise.all(waiting), state.reads]).toEqual([['unavailable', 'unavailable'], 1]);
  });

  it.each([['"a list"'], ['{"keys":"none"}'], ['{"keys":[{"kid":"first"}]}'], ['<html>'], ['']])(
    'throws an internal error if the provider answers %s',
    async (answer) => {
      const keySet = new KeySet({ read: async () => bytes(answer), now: Date.now });
      const message = 'The key server answers with no key set';
      const failure = { constructor: KeySetUnavailable, message, cause: expect.any(Error) };
      await expect(keySet.getJwk(uri, tokenOf('first'))).rejects.toMatchObject(failure);
    },
  );
});
