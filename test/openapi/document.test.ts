import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../lib/openapi/document.ts';
import { dimensionsOf, reports } from '../../lib/report/catalogue.ts';
import { SCOPE } from '../../local/stack.ts';

interface Parameter {
  readonly name?: string;
  readonly schema?: { readonly pattern?: string };
}

const document = openApiDocument('http://127.0.0.1:8080', SCOPE, { longestQueryMs: 600_000 });

describe('docs/openapi.json', () => {
  it('lists every field of the catalogue, and the fields that a report can be grouped and filtered by', () => {
    const paths = document['paths'] as Record<string, { get: { parameters: Parameter[] } }>;
    for (const report of reports) {
      const parameters = paths[`/reporting/${report.name}`]?.get.parameters ?? [];
      const namesIn = (parameter: string) =>
        /^\^\(([^)]*)\)/
          .exec(parameters.find((candidate) => candidate.name === parameter)?.schema?.pattern ?? '')?.[1]
          ?.split('|');
      const dimensions = dimensionsOf(report).map(({ name }) => name);
      expect(namesIn('requestedFields')).toEqual(report.fields.map(({ name }) => name));
      expect(namesIn('groupBy')).toEqual(dimensions);
      expect(parameters.flatMap(({ name }) => (name?.endsWith(']') ? [name] : []))).toEqual(
        dimensions.map((field) => `filter[${field}]`),
      );
    }
  });

  it.each([
    ['anyOf, oneOf or allOf', /"(?:anyOf|oneOf|allOf)"/],
    ['deepObject', /"deepObject"/],
    ['a set in place of a list', /"uniqueItems"/],
    ['times that clients write in their own forms', /"date-time"/],
    ['a line feed in an enumeration', /"enum": ?\[[^\]]*\\n/],
    [
      'JSON beside CSV in the answers to a report',
      /"application\/[\w.+-]*json": \{\s+"schema": \{\s+"\$ref"/,
    ],
  ])('avoids a feature with which generators make no usable client: %s', (_, pattern) => {
    expect(JSON.stringify(document, null, 2)).not.toMatch(pattern);
  });
});
