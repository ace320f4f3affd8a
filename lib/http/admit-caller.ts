import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Claims, callerOf } from '../access/claims.ts';
import type { Register } from '../access/partner-record.ts';
import { scopeOf, type TokenVerifier, tokenVerifier } from '../access/verify-token.ts';
import { whoseRows } from '../access/whose-rows.ts';
import type { Config } from '../config.ts';
import type { Wanted } from '../delivery/delivery.ts';
import { NotAuthorized } from '../problems/problem.ts';
import { type Report, reports } from '../report/catalogue.ts';
import { type FunctionDependencies, functionDependencies } from './function-dependencies.ts';
import { requestHeader } from './request-header.ts';
import { type LoggedFacts, noteCaller } from './request-log.ts';

export type CallerDependencies = FunctionDependencies & { readonly verifyToken: TokenVerifier };

export function callerDependencies(env: NodeJS.ProcessEnv): CallerDependencies {
  const dependencies = functionDependencies(env);
  return { ...dependencies, verifyToken: tokenVerifier(dependencies.config.token) };
}

/** The claims of the request's token, whose client is noted for the log. Throws as `TokenVerifier` does. */
export async function verifyCaller(
  event: APIGatewayProxyEvent,
  { verifyToken }: CallerDependencies,
  facts: LoggedFacts,
): Promise<Claims> {
  const name = (client: string) => Object.assign(facts, { client, partner: client });
  const claims = await verifyToken(requestHeader(event, 'authorization')).catch((error: unknown) => {
    if (error instanceof NotAuthorized) name(error.caller);
    throw error;
  });
  name(callerOf(claims));
  return claims;
}

/** Whose rows the client may see now. If none, throws NotAuthorized, which names the reports that it may request. */
export async function admitCaller(
  claims: Claims,
  report: Report,
  config: Config,
  register: Register,
  facts: LoggedFacts,
): Promise<Pick<Wanted, 'client' | 'entitlement'>> {
  const client = callerOf(claims);
  const verdict = await whoseRows(config.entitlements, report, claims, register);
  noteCaller(facts, verdict);
  if (verdict.state === 'refused') {
    const verdicts = await Promise.all(
      reports.map((other) => whoseRows(config.entitlements, other, claims, register)),
    );
    const names = reports.filter((_, at) => verdicts[at]?.state === 'entitled').map(({ name }) => name);
    throw new NotAuthorized(scopeOf(config.token), client, names);
  }
  return { client, entitlement: verdict.entitlement };
}
