import * as v from 'valibot';
import type { ColumnDimension, Dimension, TimeDimension } from './catalogue.ts';
import { type FilterOperator, operatorNames, operatorOf } from './filter-operators.ts';
import { filterColumnSchema, filterTimeSchema } from './filter-value.ts';

/** A filter on a column: records pass if the operator lets the column's value pass. */
interface ColumnFilter {
  readonly kind: 'column';
  readonly operator: FilterOperator;
  readonly dimension: ColumnDimension;
  readonly values: readonly (string | bigint)[];
}

/**
 * A filter on the time: records pass if the operator lets their hour or day pass. The values are milliseconds since
 * 1970.
 */
interface TimeFilter {
  readonly kind: 'time';
  readonly operator: FilterOperator;
  readonly dimension: TimeDimension;
  readonly values: readonly number[];
}

export type Filter = ColumnFilter | TimeFilter;

/** Parses a filter's values, each once and in a fixed order, so that the same filters make the same query. */
export const filterSchema = (
  operator: FilterOperator,
  dimension: Dimension,
): v.GenericSchema<unknown, Filter> =>
  dimension.type === 'datetime'
    ? v.pipe(
        v.array(filterTimeSchema(dimension)),
        v.transform((values) => ({
          kind: 'time' as const,
          operator,
          dimension,
          values: [...new Set(values)].sort(),
        })),
      )
    : v.pipe(
        v.array(filterColumnSchema(dimension)),
        v.transform((values) => ({
          kind: 'column' as const,
          operator,
          dimension,
          values: [...new Set(values)].sort(),
        })),
      );

const operators = operatorNames.map(operatorOf);

/** Compares two filters, so that the same filters make the same query whatever their order in the request. */
export const inFixedOrder = (dimensions: readonly Dimension[]) => (a: Filter, b: Filter) =>
  dimensions.indexOf(a.dimension) - dimensions.indexOf(b.dimension) ||
  operators.indexOf(a.operator) - operators.indexOf(b.operator);
