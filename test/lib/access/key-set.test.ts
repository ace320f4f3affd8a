import { generateKeyPairSync } from 'node:crypto';
import type { Jwk } from 'aws-jwt-verify/jwk';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeySet, KeySetUnavailable, tokenVerifier } from '../../../lib/access/verify-token.ts';
import { makeSigner } from '../../../local/identity-provider/identity-provider.ts';
import { serve } from '../../../local/serve.ts';

const jwk = (kid: string): Jwk => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...(publicKey.export({ format: 'jwk' }) as Jwk), kid, alg: 'ES256', use: 'sig' };
};
const [first, second] = [jwk('first'), jwk('second')];

const uri = 'https://provider.example/jwks';
const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;
const tokenOf = (kid: string | undefined) => ({ header: { alg: 'ES256', ...(kid && { kid }) }, payload: {} });

const SECOND = 1_000;

const BEGAN = 1_000_000_000_000;
beforeEach(() => void vi.useFakeTimers({ now: BEGAN, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

type Outcome = 'found' | 'refused' | 'unavailable';

/** A provider whose keys the test sets. While the provider hangs, a read ends only when the test releases it. */
function provider(keys: readonly Jwk[]) {
  const state = { keys, isDown: false, reads: 0, hangs: Promise.resolve() };
  const keySet = new KeySet(async () => {
    state.reads += 1;
    await state.hangs;
    if (state.isDown) throw new KeySetUnavailable('down');
    return bytes(JSON.stringify({ keys: state.keys }));
  });
  const finds = (kid: string | undefined): Promise<Outcome> =>
    keySet.getJwk(uri, tokenOf(kid)).then(
      (key) => (key.kid === kid ? 'found' : 'refused'),
      (error: unknown) => (error instanceof KeySetUnavailable ? 'unavailable' : 'refused'),
    );
  return { state, finds };
}

/**
 * Steps: the second since the first step, which key a caller asks for, what it gets, and how often the key set has been
 * read by then. `down` and `up` before a key are what the provider does from then on; `+second` and `-first` its keys.
 */
const CASES: Readonly<Record<string, string>> = {
  'refuses an invented key without a read within ten seconds of the last read, and later only after one more read':
    '0 first found 1, 0.001 invented refused 1, 9.999 another refused 1, 10 another refused 2, ' +
    '19.999 invented refused 2, 20 invented refused 3',
  'refuses an invented key after one read, even if that key comes first':
    '0 invented refused 1, 0 invented refused 1, 0 first found 1',
  'finds a new key at once if the last read was at least ten seconds ago':
    '0 first found 1, 10 +second second found 2, 10 first found 2',
  'finds a new key within ten seconds, even while tokens with invented keys keep coming':
    '0 first found 1, 10 invented refused 2, 10.001 +second second refused 2, 15 invented refused 2, 20 second found 3',
  'never reads for a token that names no key': '0 no-key refused 0, 0 first found 1, 660 no-key refused 1',
  'reads again after ten minutes, and then refuses a withdrawn key':
    '0 first found 1, 599.999 -first first found 1, 600 first refused 2',
  'is unavailable for unknown keys while the provider is down, and asks the provider at most every two seconds; known keys stay valid':
    '0 first found 1, 9 down invented refused 1, 10 invented unavailable 2, 11.999 another unavailable 2, ' +
    '11.999 first found 2, 12 another unavailable 3, 14 up another refused 4, 15 invented refused 4',
  'is unavailable for every key if the provider is down from the beginning':
    '0 down first unavailable 1, 1.999 up first unavailable 1, 2 first found 2',
  'keeps keys for an hour while the provider is down, and asks the provider at most every two seconds':
    '0 first found 1, 1800 down first found 2, 1801.999 first found 2, 3599.999 first found 3, ' +
    '3600 first unavailable 3, 3602 up first found 4',
  'reads again after the clock was set back, and then refuses a withdrawn key':
    '79200 first found 1, 0 -first first refused 2, 0 second found 2',
  'counts a failed read for two seconds at most, even if the clock is set back':
    '79200 down first unavailable 1, 0 up first found 2',
  'does not keep keys of an unknown age while the provider is down':
    '79200 first found 1, 0 down first unavailable 2',
};

describe('the key set', () => {
  it.each(Object.entries(CASES))('%s', async (_, steps) => {
    const { state, finds } = provider([first]);
    const changes: Record<string, object> = {
      ...{ down: { isDown: true }, up: { isDown: false } },
      ...{ '+second': { keys: [first, second] }, '-first': { keys: [second] } },
    };
    const seen: string[] = [];
    for (const step of steps.split(', ')) {
      const [at, ...words] = step.split(' ');
      vi.setSystemTime(BEGAN + Number(at) * SECOND);
      Object.assign(state, changes[words[0] ?? '']);
      const key = words.at(-3);
      const gets = await finds(key === 'no-key' ? undefined : key);
      seen.push([at, ...words.slice(0, -2), gets, state.reads].join(' '));
    }
    expect(seen).toEqual(steps.split(', '));
  });

  it('is read once for all unknown keys that come at the same time; known keys do not wait', async () => {
    const { state, finds } = provider([first]);
    await finds('first');
    vi.setSystemTime(BEGAN + 10 * SECOND);
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    state.hangs = promise;
    const unknown = Array.from({ length: 60 }, (_, index) => finds(`invented-${index}`));
    state.keys = [first, second];
    vi.setSystemTime(BEGAN + 11 * SECOND);
    expect(await finds('first')).toBe('found');
    const late = finds('second');
    letGo();
    expect([new Set(await Promise.all(unknown)), await late]).toEqual([new Set(['refused']), 'found']);
    expect(state.reads).toBe(2);
  });

  it.each<[isDown: boolean, gets: Outcome[]]>([
    [false, ['found', 'found', 'found', 'refused']],
    [true, ['unavailable', 'unavailable', 'unavailable', 'unavailable']],
  ])('is read once for many first tokens that come at the same time; down: %j', async (isDown, gets) => {
    const { state, finds } = provider([first, second]);
    state.isDown = isDown;
    const outcomes = await Promise.all(['first', 'second', 'first', 'invented'].map(finds));
    expect([outcomes, state.reads]).toEqual([gets, 1]);
  });

  it.each([['"a list"'], ['{"keys":"none"}'], ['{"keys":[{"kid":"first"}]}'], ['<html>'], ['']])(
    'throws an internal error if the provider answers %s',
    async (answer) => {
      const keySet = new KeySet(async () => bytes(answer));
      const message = 'The key server answers with no key set';
      const failure = { constructor: KeySetUnavailable, message, cause: expect.any(Error) };
      await expect(keySet.getJwk(uri, tokenOf('first'))).rejects.toMatchObject(failure);
    },
  );
});

describe('a key server', async () => {
  type Answer = readonly [status: number, body: object];
  let planned: Answer[] = [];
  const server = await serve((_, response) => {
    const [status, body] = planned.shift() ?? [500, { fault: 'an unplanned request' }];
    response.writeHead(status).end(JSON.stringify(body));
  });
  afterAll(() => server.close());
  const issuer = 'https://issuer.example';
  const [apiScope, jwksUri] = ['api://reports', `${server.url}/keys`];
  const signer = await makeSigner(() => issuer);
  const keys: Answer = [200, { keys: signer.publicKeys }];

  /** Verifies a valid token while the key server gives these answers, one for each read. */
  async function verify(...answers: Answer[]) {
    planned = answers;
    const token = await signer.signToken({ scope: `${apiScope}/.default` });
    return tokenVerifier({ issuer, jwksUri, apiScope })(`Bearer ${token}`);
  }

  it('is asked once more if the first read fails', async () => {
    expect(await verify([503, {}], keys)).toMatchObject({ iss: issuer });
    expect(planned).toEqual([]);
  });

  it('that fails twice makes an internal error, and no refusal of the token', async () => {
    const failing = verify([503, { keys: signer.publicKeys }], [404, {}], keys);
    const message = `The key set ${jwksUri} could not be read`;
    const failure = { constructor: KeySetUnavailable, message, cause: new Error('status 404') };
    await expect(failing).rejects.toMatchObject(failure);
    expect(planned).toHaveLength(1);
  });

  it('has two tries of three seconds each', async () => {
    const aborted = () => AbortSignal.abort(new Error('no answer'));
    const timeouts = vi.spyOn(AbortSignal, 'timeout').mockImplementation(aborted);
    onTestFinished(() => timeouts.mockRestore());
    await expect(verify(keys)).rejects.toMatchObject({ cause: new Error('no answer') });
    expect(timeouts.mock.calls).toEqual([[3_000], [3_000]]);
  });

  it('whose key for the token can’t be used makes an internal error', async () => {
    const broken = signer.publicKeys.map(({ n: _, ...key }) => key);
    await expect(verify([200, { keys: broken }])).rejects.toThrow('Missing modulus (n)');
  });
});
