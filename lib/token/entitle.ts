import type { Config } from '../config.ts';
import { NotAuthorized } from '../problem.ts';
import type { Report } from '../report/catalogue.ts';
import type { Entitlement } from '../report/row-predicates.ts';
import { readEntitlement } from './read-entitlement.ts';
import { type Claims, scopeOf } from './verify-token.ts';

/**
 * The companies whose rows of this report the token opens, by the claim of the dimension that governs it.
 * Throws NotAuthorized where the token opens none; fails closed.
 */
export function entitle(claims: Claims, report: Report, { entitlements, token }: Config): Entitlement {
  if (!entitlements) return 'every-company';
  const rule = entitlements[report.governedBy];
  const entitlement = rule && readEntitlement(claims, rule);
  if (!entitlement) throw new NotAuthorized(scopeOf(token));
  return entitlement;
}
