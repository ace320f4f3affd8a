/**
 * `npm run openapi`: writes docs/openapi.json, the document as `npm start` serves it, but without its token endpoint,
 * which has another port at each start.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '../lib/openapi/document.ts';
import { SCOPE } from '../local/stack.ts';

const file = join(import.meta.dirname, '..', 'docs', 'openapi.json');
const document = openApiDocument('http://127.0.0.1:8080', SCOPE, { longestQueryMs: 600_000 });
await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
