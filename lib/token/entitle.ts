import { NotAuthorized } from '../answers/problem.ts';
import type { Report } from '../report/catalogue.ts';
import type { Entitlement } from '../report/row-predicates.ts';
import { type EntitlementRule, readEntitlement } from './read-entitlement.ts';
import { type Claims, scopeOf } from './verify-token.ts';

/** How tokens open rows, by the field that governs a report; undefined where every caller sees every row. */
export interface EntitlementTerms {
  readonly entitlements: Readonly<Record<Report['governedBy'], EntitlementRule | undefined>> | undefined;
  readonly token: { readonly apiScope: string };
}

/**
 * The companies whose rows of this report the token opens, by the claim of the dimension that governs it.
 * Throws NotAuthorized where the token opens none; fails closed.
 */
export function entitle(
  claims: Claims,
  report: Report,
  { entitlements, token }: EntitlementTerms,
): Entitlement {
  if (!entitlements) return 'every-company';
  const rule = entitlements[report.governedBy];
  const entitlement = rule && readEntitlement(claims, rule);
  if (!entitlement) throw new NotAuthorized(scopeOf(token));
  return entitlement;
}
