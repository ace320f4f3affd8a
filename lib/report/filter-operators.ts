/**
 * The kinds of filters: one entry for each word that can come before a field, such as `filter` in `filter[Day]`. The
 * SQL, the look-up of containers, the partitions that are read, the page and the OpenAPI document use these entries and
 * know no operator by its name (CONTRIBUTING.md, "Add a filter operator").
 */
export interface FilterOperator {
  /** Says, in the OpenAPI document, which records count. `meaning` is the field's meaning. */
  readonly description: (meaning: string) => string;
  /** The page's name for a filter on a field. */
  readonly title: (field: string) => string;
  /**
   * The SQL condition that a value must fulfil to pass. It must give NULL for a NULL value. `wanted` is never empty.
   * The query joins this condition to others by AND, such as the condition for the rows that the caller may see. So put
   * brackets around an OR.
   */
  readonly sql: (value: string, wanted: readonly string[]) => string;
  /**
   * Whether records with a NULL value pass. It has no effect on a filter on placements: the placement of
   * container-level records is NULL, but they belong to all placements of their container
   * (docs/decisions/0003-opens.md).
   */
  readonly passesUnknown: boolean;
  /**
   * Whether only the wanted values pass. Only then may a filter on hours skip the partitions of other days, and the
   * page skip the other days of a comparison.
   */
  readonly passesWantedOnly: boolean;
}

export const filterOperators = {
  filter: {
    description: (meaning) =>
      `Counts only the records with this ${meaning}. Repeated, any of the values will do.`,
    title: (field) => field,
    sql: (value, wanted) => `${value} IN (${wanted.join(', ')})`,
    passesUnknown: false,
    passesWantedOnly: true,
  },
} as const satisfies Readonly<Record<string, FilterOperator>>;

export type OperatorName = keyof typeof filterOperators;

/** The names, in the order in which documents and forms list them. `Object.keys` types them as plain strings. */
export const operatorNames = Object.keys(filterOperators) as OperatorName[];

export const operatorOf = (name: OperatorName): FilterOperator => filterOperators[name];

/** A filter's operator and field. */
interface FilterName {
  readonly operator: OperatorName;
  readonly field: string;
}

/** The query parameter of a filter, `filter[Day]` (docs/contract.md#filters). */
export const filterParameter = ({ operator, field }: FilterName): string => `${operator}[${field}]`;

/** The operator and field of a filter parameter; undefined for other parameters. */
export function readFilterParameter(parameter: string): FilterName | undefined {
  const [, word, field] = /^(\w+)\[([^[\]]+)\]$/.exec(parameter) ?? [];
  const operator = operatorNames.find((name) => name === word);
  return operator && field !== undefined ? { operator, field } : undefined;
}
