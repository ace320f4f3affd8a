import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { dayStates } from '../../lib/lake/day-states.ts';
import { openApiDocument } from '../../lib/openapi/document.ts';
import { SCOPE } from '../../local/stack.ts';
import { lakeObject } from '../lib/delivery/memory-lake.ts';

interface Answer {
  readonly startInclusive: string;
  readonly endExclusive: string;
  readonly days: readonly { readonly day: string; readonly state: string }[];
}

interface Content {
  readonly schema: { readonly example: Answer };
}

const guide = await readFile(new URL('../../docs/incremental-pull.md', import.meta.url), 'utf8');
const document = openApiDocument('http://127.0.0.1:8080', SCOPE, { longestQueryMs: 600_000 }) as {
  paths: Record<string, { get: { responses: Record<string, { content: Record<string, Content> }> } }>;
};
const content =
  document.paths['/reporting/publisherperformance/days']?.get.responses['200']?.content['application/json'];

/** The days that the service gives for a lake with the days and states of an example. */
function givenFor({ startInclusive, endExclusive, days }: Answer, finalAfterHours?: number) {
  const objects = days.flatMap(({ day, state }) =>
    ['a.parquet', ...(state === 'final' ? ['_SUCCESS'] : [])].map((name) => lakeObject(`day=${day}/${name}`)),
  );
  const window = { start: Date.parse(startInclusive), end: Date.parse(endExclusive) };
  return dayStates(objects, '', window, finalAfterHours).map((day) => ({
    ...day,
    version: expect.stringMatching(/^[0-9a-f]{32}$/),
  }));
}

describe('the answer of the route for days', () => {
  it.each([
    ['docs/incremental-pull.md', JSON.parse(/```json\n(.*?)```/s.exec(guide)?.[1] ?? '') as Answer],
    ['docs/openapi.json', content?.schema.example as Answer],
  ])('in %s has the members and windows that the service gives', (_, shown) => {
    expect(shown.days).toHaveLength(2);
    expect(shown.days).toEqual(givenFor(shown));
  });
});
