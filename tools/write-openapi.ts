/**
 * `npm run openapi`: writes docs/openapi.json, the document as `npm start` serves it, but without its token endpoint,
 * which has another port at each start.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '../lib/openapi/document.ts';
import { SCOPE } from '../local/stack.ts';

const file = join(import.meta.dirname, '..', 'docs', 'openapi.json');
const document = openApiDocument({
  url: 'http://127.0.0.1:8080',
  scope: SCOPE,
  longestReportSeconds: 600,
});
await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
