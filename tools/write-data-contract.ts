/** `npm run data-contract`: writes the tables of docs/data-contract.md from the field catalogue. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withContractTables } from './docs/contract-tables.ts';

const page = join(import.meta.dirname, '..', 'docs', 'data-contract.md');
await writeFile(page, withContractTables(await readFile(page, 'utf8')));
