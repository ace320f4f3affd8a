import { type Dimension, dimensionsOf, type Report } from '../report/catalogue.ts';
import { operatorNames, operatorOf } from '../report/filter-operators.ts';
import { filterParameter } from '../report/filter-parameter.ts';
import { MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter-value.ts';
import { patternOf } from '../report/utc-time.ts';
import { exampleRequests, exampleValue } from './example-requests.ts';
import type { Part } from './schema.ts';

/** The schema of one value of a filter on the dimension, as `filter-value.ts` accepts it. */
function valueSchema(dimension: Dimension): Part {
  switch (dimension.type) {
    case 'datetime':
      // There is no `format: date-time`: clients that know it write `.000Z` or `+00:00`, which the contract does not
      // allow.
      return { type: 'string', pattern: patternOf(TIME_FILTER_FORM[dimension.grain]) };
    case 'integer':
      return { type: 'integer', format: 'int64' };
    case 'string':
      return {
        type: 'string',
        minLength: 1,
        maxLength: MAX_TEXT_CHARACTERS,
        // The pattern excludes Unicode's category Cc and U+FFFD. It spells them out, because some engines for JSON
        // Schema don't know `\p{Cc}`.
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ufffd]*$',
      };
  }
}

/**
 * The filters: one parameter for each operator and dimension. All generators of clients can repeat a parameter. Few can
 * write several values for one property of a `deepObject`.
 */
export function filterParameters(report: Report): Part[] {
  const examples = Object.entries(exampleRequests(report));
  return operatorNames.flatMap((operator) =>
    dimensionsOf(report).map((dimension) => {
      const { name: field, meaning } = dimension;
      const asked = examples.map(([, request]) => request[operator]?.[field]).find((values) => values);
      return {
        name: filterParameter({ operator, field }),
        in: 'query',
        description: `${operatorOf(operator).description(meaning)} Filters on several fields must all hold.`,
        style: 'form',
        explode: true,
        schema: { type: 'array', items: valueSchema(dimension), minItems: 1 },
        example: asked ?? [exampleValue(dimension)],
      };
    }),
  );
}
