/**
 * How records are filtered: one entry for each word that can stand before a field, as in `filter[Day]`. The SQL, the
 * look-up of containers, the partitions that are read, the page and the OpenAPI document go by these entries and know no
 * operator by its name (CONTRIBUTING.md, "Add a filter operator").
 */
export interface FilterOperator {
  /** For the OpenAPI document: which records count. `meaning` is the field's. */
  readonly description: (meaning: string) => string;
  /** What the page calls a filter on a field. */
  readonly title: (field: string) => string;
  /**
   * Whether a known value passes, as SQL that gives NULL where the value is NULL. `wanted` is never empty. It is joined
   * to other conditions, such as whose rows the caller may see, by AND: brackets go around an OR.
   */
  readonly sql: (value: string, wanted: readonly string[]) => string;
  /**
   * Whether records pass whose value is not known: NULL. Container-level records never do so under a filter on
   * placements, since they are of all placements of their container (docs/decisions/0003-opens.md).
   */
  readonly passesUnknown: boolean;
  /**
   * Whether no value passes but those that are wanted. Only then can a filter on hours leave out the partitions of other
   * days, and the page the other days of a comparison.
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

/** In the order in which documents and forms list them. `Object.keys` types them as plain strings, hence the cast. */
export const operatorNames = Object.keys(filterOperators) as OperatorName[];

export const operatorOf = (name: OperatorName): FilterOperator => filterOperators[name];
