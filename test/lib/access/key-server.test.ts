import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeySetUnavailable, tokenVerifier } from '../../../lib/access/verify-token.ts';
import { makeSigner } from '../../../local/identity-provider/identity-provider.ts';

const issuer = 'https://issuer.example';
const apiScope = 'api://reports';
const scope = `${apiScope}/.default`;

type Answer = readonly [status: number, body: object];
let planned: Answer[] = [];
const server = createServer((_, response) => {
  const [status, body] = planned.shift() ?? [500, { fault: 'an unplanned request' }];
  response.writeHead(status).end(JSON.stringify(body));
});
let signer: Awaited<ReturnType<typeof makeSigner>>;
let jwksUri: string;

beforeAll(async () => {
  signer = await makeSigner(() => issuer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  jwksUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
});
beforeEach(() => {
  planned = [];
  return () => vi.restoreAllMocks();
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

/** Verifies a valid token while the key server gives these answers, one for each read. */
async function verify(...answers: Answer[]) {
  planned = answers;
  const token = await signer.signToken({ scope });
  return tokenVerifier({ issuer, jwksUri, apiScope })(`Bearer ${token}`);
}
const keys = (): Answer => [200, { keys: signer.publicKeys }];

describe('the token verifier', () => {
  it('asks a key server once more if the first read fails', async () => {
    expect(await verify([503, {}], keys())).toMatchObject({ iss: issuer });
    expect(planned).toEqual([]);
  });

  it('throws an internal error, and does not refuse the token, if the key server fails twice', async () => {
    const failing = verify([503, { keys: signer.publicKeys }], [404, {}], keys());
    const message = `The key set ${jwksUri} could not be read`;
    const failure = { constructor: KeySetUnavailable, message, cause: new Error('status 404') };
    await expect(failing).rejects.toMatchObject(failure);
    expect(planned).toHaveLength(1);
  });

  it('gives the key server two tries of three seconds each', async () => {
    const aborted = () => AbortSignal.abort(new Error('no answer'));
    const timeouts = vi.spyOn(AbortSignal, 'timeout').mockImplementation(aborted);
    await expect(verify(keys())).rejects.toMatchObject({ cause: new Error('no answer') });
    expect(timeouts.mock.calls).toEqual([[3_000], [3_000]]);
  });

  it('throws an internal error if the key server’s key for the token can’t be used', async () => {
    const broken = signer.publicKeys.map(({ n: _, ...key }) => key);
    await expect(verify([200, { keys: broken }])).rejects.toThrow('Missing modulus (n)');
  });
});
