import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { startIdentityProvider } from '../../local/identity-provider/identity-provider.ts';
import { CLIENTS } from './claims.ts';

interface SignRequest {
  readonly claims: Record<string, unknown>;
  readonly options?: { readonly header?: Record<string, unknown> | null } | null;
}

/** JSON has no undefined: a null member is to be left out. */
const leftOut = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, value ?? undefined]));

/** Starts the identity provider that stage `claims` is deployed with, as one that existed before the service. */
export async function startIssuer() {
  const provider = await startIdentityProvider({ clients: CLIENTS });
  const server = createServer(async (request, response) => {
    const { claims, options } = (await json(request)) as SignRequest;
    const header = leftOut(options?.header ?? {});
    response.end(await provider.signToken(leftOut(claims), { ...options, header }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** POST claims here to get a token, also one that no provider would issue. */
    signUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    environment: {
      LANE_ISSUER: provider.issuer,
      LANE_JWKS_URI: provider.jwksUri,
      LANE_TOKEN_URL: provider.tokenUrl,
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await provider.close();
    },
  };
}
