import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../lib/openapi/document.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { SCOPE } from '../../local/stack.ts';

const file = new URL('../../docs/openapi.json', import.meta.url);
const document = openApiDocument({ url: 'http://127.0.0.1:8080', scope: SCOPE });

describe('docs/openapi.json', () => {
  it('is what `npm run openapi` writes', async () => {
    expect(await readFile(file, 'utf8')).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it('is valid OpenAPI 3.1 by the schema of the OpenAPI Initiative', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result).toEqual({ valid: true });
  });

  it('lists every field of the catalogue, by its role', () => {
    const { schemas } = document['components'] as { schemas: Record<string, { enum?: string[] }> };
    for (const { title, fields } of reports) {
      const name = title.replaceAll(/ (\w)/g, (_, first: string) => first.toUpperCase());
      const listed = [
        ...(schemas[`${name}Dimension`]?.enum ?? []),
        ...(schemas[`${name}Metric`]?.enum ?? []),
      ];
      expect(listed).toEqual(Object.keys(fields));
    }
  });
});
