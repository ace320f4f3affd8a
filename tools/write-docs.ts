/** `npm run docs`: writes the generated parts of the documents. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { madeParts } from './docs/made-parts.ts';

const root = join(import.meta.dirname, '..');
for (const { page, make } of madeParts(root)) {
  const file = join(root, page);
  await writeFile(file, make(await readFile(file, 'utf8')));
}
