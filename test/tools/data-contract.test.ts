import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tables } from '../../lib/report/tables.ts';
import { withContractTables } from '../../tools/docs/contract-tables.ts';

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'data-contract.md'), 'utf8');

it('docs/data-contract.md has the tables of the catalogue, as npm run data-contract writes them', () => {
  expect(page).toBe(withContractTables(page));
});

it('docs/data-contract.md names every column with its type', () => {
  for (const { name, type } of tables.flatMap(({ columns }) => columns))
    expect(page).toContain(`| \`${name}\` | ${type} | `);
});

it('npm run data-contract refuses a page without the comments around the tables', () => {
  expect(() => withContractTables('# Data contract')).toThrow('lost its marks');
});
