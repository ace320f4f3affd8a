import type { APIGatewayProxyEvent } from 'aws-lambda';
import { NotAuthorized } from '../answers/problem.ts';
import type { Config } from '../config.ts';
import type { Register } from '../partners/register.ts';
import { whoseRows } from '../partners/whose-rows.ts';
import type { Report } from '../report/catalogue.ts';
import type { Entitlement } from '../report/row-predicates.ts';
import { callerOf, clientOf } from '../token/client-of.ts';
import { readEntitlement } from '../token/read-entitlement.ts';
import { scopeOf, type TokenVerifier } from '../token/verify-token.ts';
import type { LoggedFacts } from './logged-facts.ts';
import { noteCaller } from './note-caller.ts';
import { requestHeader } from './request-header.ts';

/** A caller with a good token, and whose rows of the report it may see. */
export interface AdmittedCaller {
  /** The client's id or, where its token names none, the token's subject or else `unnamed`. */
  readonly client: string;
  readonly entitlement: Entitlement;
}

/**
 * Checks the token, and whose rows of the report its client may see at this time; notes both for the log. Throws
 * Unauthenticated without a good token, NotAuthorized where it opens no row.
 */
export async function admitCaller(
  event: APIGatewayProxyEvent,
  report: Report,
  { config, verifyToken }: { readonly config: Config; readonly verifyToken: TokenVerifier },
  register: Register,
  facts: LoggedFacts,
): Promise<AdmittedCaller> {
  const name = (caller: string) => Object.assign(facts, { client: caller, partner: caller });
  const claims = await verifyToken(requestHeader(event, 'authorization')).catch((error: unknown) => {
    if (error instanceof NotAuthorized) name(error.caller);
    throw error;
  });
  const client = callerOf(claims);
  name(client);
  const verdict = await whoseRows(
    config.entitlements,
    report,
    { client: clientOf(claims), byClaims: (rule) => readEntitlement(claims, rule) },
    register,
  );
  noteCaller(facts, verdict);
  if (verdict.state === 'refused') throw new NotAuthorized(scopeOf(config.token), client);
  return { client, entitlement: verdict.entitlement };
}
