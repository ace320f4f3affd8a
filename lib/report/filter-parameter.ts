/** The query parameter that filters by a field (docs/contract.md#filters). */
export const filterParameter = (field: string): string => `filter[${field}]`;

/** The field that a parameter filters by; undefined where it is no filter. */
export const filteredField = (parameter: string): string | undefined =>
  /^filter\[([^[\]]+)\]$/.exec(parameter)?.[1];
