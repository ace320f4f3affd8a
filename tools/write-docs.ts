/** `npm run docs`: writes what is made of the code in the documents, docs/openapi.json among them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { madeParts } from './made-parts.ts';

const root = join(import.meta.dirname, '..');
for (const { page, make } of madeParts(root)) {
  const file = join(root, page);
  await writeFile(file, make(await readFile(file, 'utf8')));
}
