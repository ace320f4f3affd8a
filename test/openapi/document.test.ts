import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { dayStates } from '../../lib/lake/day-states.ts';
import { openApiDocument } from '../../lib/openapi/document.ts';
import { dimensionsOf, reports } from '../../lib/report/catalogue.ts';
import { SCOPE } from '../../local/stack.ts';
import { lakeObject } from '../lib/delivery/memory-lake.ts';

interface Parameter {
  readonly name?: string;
  readonly schema?: { readonly pattern?: string };
}

interface Days {
  readonly startInclusive: string;
  readonly endExclusive: string;
  readonly days: readonly { readonly day: string; readonly state: string }[];
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly responses: Record<string, { content: Record<string, { schema: { example: Days } }> }>;
}

const document = openApiDocument('http://127.0.0.1:8080', SCOPE, { longestQueryMs: 600_000 });
const paths = document['paths'] as Record<string, { get: Operation }>;

describe('docs/openapi.json', () => {
  it('lists every field of the catalogue, and the fields that a report can be grouped and filtered by', () => {
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

/** The days that the service gives for a lake with the days and states of an example. */
function givenFor({ startInclusive, endExclusive, days }: Days, finalAfterHours?: number) {
  const objects = days.flatMap(({ day, state }) =>
    ['a.parquet', ...(state === 'final' ? ['_SUCCESS'] : [])].map((name) => lakeObject(`day=${day}/${name}`)),
  );
  const window = { start: Date.parse(startInclusive), end: Date.parse(endExclusive) };
  return dayStates(objects, '', window, finalAfterHours).map((day) => ({
    ...day,
    version: expect.stringMatching(/^[0-9a-f]{32}$/),
  }));
}

describe('the answer of the route for days', async () => {
  const guide = await readFile(new URL('../../docs/incremental-pull.md', import.meta.url), 'utf8');
  const { responses } = paths['/reporting/publisherperformance/days']?.get ?? {};
  it.each([
    ['docs/incremental-pull.md', JSON.parse(/```json\n(.*?)```/s.exec(guide)?.[1] ?? '')],
    ['docs/openapi.json', responses?.['200']?.content['application/json']?.schema.example],
  ])('in %s has the members and windows that the service gives', (_, shown) => {
    expect(shown.days).toHaveLength(2);
    expect(shown.days).toEqual(givenFor(shown));
  });
});
