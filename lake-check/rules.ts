import { type Finding, type Rule, sortFindings } from './finding.ts';
import type { LakeFacts } from './lake-facts.ts';
import { columnRules } from './rules/column-rules.ts';
import { layoutRules } from './rules/layout-rules.ts';
import { adviceRules, protocolRules } from './rules/protocol-rules.ts';
import { valueRules } from './rules/value-rules.ts';

/** The rules of a lake. `npm run lake -- check` applies them, and `npm start` does before it serves the lake. */
const rules: readonly Rule[] = [layoutRules, columnRules, valueRules, protocolRules, adviceRules].flat();

/** All findings about the lake, the worst first. */
export const judge = (lake: LakeFacts): Finding[] => sortFindings(rules.flatMap((rule) => rule(lake)));
