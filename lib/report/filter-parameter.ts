import { type OperatorName, operatorNames } from './filter-operators.ts';

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
