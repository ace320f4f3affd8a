import type { Dimension, Report } from '../report/catalogue.ts';
import { MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter-value.ts';
import { patternOf } from '../report/utc-time.ts';
import type { Part } from './schema.ts';

/** One value of a filter on the dimension, as `filterValueSchema` takes it. */
function valueSchema(dimension: Dimension): Part {
  switch (dimension.type) {
    case 'datetime':
      return { type: 'string', format: 'date-time', pattern: patternOf(TIME_FILTER_FORM[dimension.grain]) };
    case 'integer':
      return { type: 'integer', format: 'int64' };
    case 'string':
      return {
        type: 'string',
        minLength: 1,
        maxLength: MAX_TEXT_CHARACTERS,
        // Unicode's Cc, spelt out: `\p{Cc}` is not known to every engine that reads JSON Schema.
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
      };
  }
}

/**
 * The `filter` parameter's object, one property a dimension. The specification leaves open how `deepObject` writes
 * a list; the value alone comes first because every generator can write that.
 */
export const filterSchema = ({ fields }: Report): Part => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      if (field.role !== 'dimension') return [];
      const value = valueSchema(field);
      const anyOf = [value, { type: 'array', items: value, minItems: 1 }];
      return [[name, { description: field.meaning, anyOf }]];
    }),
  ),
});
