import type { Verdict } from '../access/whose-rows.ts';
import type { LoggedFacts } from './logged-facts.ts';

/** Notes for the log who asks, by the register's name where there is one, and whose rows it may see, or why none. */
export function noteCaller(facts: LoggedFacts, verdict: Verdict): void {
  if (verdict.partner !== undefined) facts.partner = verdict.partner;
  if (verdict.state === 'refused') facts.refusal = verdict.refusal;
  else
    facts.companies =
      verdict.entitlement === 'every-company' ? verdict.entitlement : verdict.entitlement.length;
}
