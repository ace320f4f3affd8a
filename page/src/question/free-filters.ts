import { dimensionsOf, type Report } from '../../../lib/report/catalogue.ts';
import { filterParameter, operatorNames, operatorOf } from '../../../lib/report/filter-operators.ts';
import type { ChosenFilter } from './choice.ts';

/**
 * The filters that the user can still add: one for every operator and dimension, without those already chosen. Each has
 * one empty value.
 */
export function freeFilters(report: Report, filters: readonly ChosenFilter[]): ChosenFilter[] {
  const taken = filters.map(filterParameter);
  return operatorNames
    .flatMap((operator) => dimensionsOf(report).map(({ name: field }) => ({ operator, field, values: [''] })))
    .filter((filter) => !taken.includes(filterParameter(filter)));
}

/** The page's title for a filter. */
export const titleOf = ({ operator, field }: ChosenFilter): string => operatorOf(operator).title(field);
