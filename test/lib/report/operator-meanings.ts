import type { FilterOperator, OperatorName } from '../../../lib/report/filter-operators.ts';

/** Whether a filter lets a value pass; null is an unknown value. */
export type Lets = (value: string | null, wanted: readonly string[]) => boolean;

/** The meaning of each operator in plain JavaScript, independent of the SQL. */
const MEANINGS: Readonly<Record<OperatorName, Lets>> = {
  filter: (value, wanted) => value !== null && wanted.includes(value),
};

export function meaningOf(operator: OperatorName): Lets {
  const lets = MEANINGS[operator];
  if (!lets)
    throw new TypeError(`test/lib/report/operator-meanings.ts: say which values ${operator} lets pass`);
  return lets;
}

/**
 * An operator that differs from `filter` in every member. With it, tests find code that treats every operator as
 * `filter`.
 */
export const allBut: FilterOperator & { readonly lets: Lets } = {
  description: (meaning) => `Leaves out the records with this ${meaning}.`,
  title: (field) => `All but ${field}`,
  sql: (value, wanted) => `${value} NOT IN (${wanted.join(', ')})`,
  passesUnknown: true,
  passesWantedOnly: false,
  lets: (value, wanted) => value === null || !wanted.includes(value),
};
