import { dimensionsOf, type Report } from '../../../lib/report/catalogue.ts';
import type { ChosenFilter } from './choice.ts';

/**
 * The filters that the user can still add: one for every dimension, without those already chosen. Each has one empty
 * value.
 */
export function freeFilters(report: Report, filters: readonly ChosenFilter[]): ChosenFilter[] {
  return dimensionsOf(report)
    .map(({ name: field }) => ({ field, values: [''] }))
    .filter(({ field }) => filters.every((filter) => filter.field !== field));
}
