import { json } from 'node:stream/consumers';
import { startIdentityProvider } from '../../local/identity-provider/identity-provider.ts';
import { serve } from '../../local/serve.ts';
import { CLIENTS } from './claims.ts';

interface SignRequest {
  readonly claims: Record<string, unknown>;
  readonly options?: { readonly header?: Record<string, unknown> | null } | null;
}

/** Leaves out the members that are null. JSON has no undefined, so the tests send null for it. */
const leftOut = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, value ?? undefined]));

/** Starts the identity provider of stage `claims`, which exists before the stage is deployed. */
export async function startIssuer() {
  const provider = await startIdentityProvider({ clients: CLIENTS });
  const { issuer, jwksUri, tokenUrl } = provider;
  const signer = await serve(async (request, response) => {
    const { claims, options } = (await json(request)) as SignRequest;
    const header = leftOut(options?.header ?? {});
    response.end(await provider.signToken(leftOut(claims), { ...options, header }));
  });
  return {
    /** The URL that signs the claims of a POST, even claims that no real provider would sign. */
    signUrl: signer.url,
    environment: { LANE_ISSUER: issuer, LANE_JWKS_URI: jwksUri, LANE_TOKEN_URL: tokenUrl },
    async [Symbol.asyncDispose]() {
      await signer.close();
      await provider.close();
    },
  };
}
