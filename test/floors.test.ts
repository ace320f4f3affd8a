import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The imports of every file under a folder: packages by name, files by their path from the root. */
async function importsUnder(folder: string): Promise<{ file: string; imported: string }[]> {
  const found: { file: string; imported: string }[] = [];
  for await (const path of glob(`${folder}/**/*.ts`, { cwd: root })) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [, specifier = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      const imported = specifier.startsWith('.')
        ? relative(root, resolve(root, path, '..', specifier))
        : specifier;
      found.push({ file: path, imported });
    }
  }
  expect(found.length).toBeGreaterThan(0);
  return found;
}

describe('the floors of the house', () => {
  it.each([
    ['lib', /^(functions|infra|local|test|bench)\//],
    ['functions', /^(infra|local|test|bench)\//],
    ['lib/report', /^(@aws|aws-|lib\/(?!report\/|answers\/problem\.ts))/],
    ['infra', /^(functions|local|test|bench|lib\/(delivery|token))/],
    ['local', /^(infra|test|bench|lib\/delivery)/],
  ])('%s imports nothing that matches %s', async (folder, forbidden) => {
    const imports = await importsUnder(folder);
    expect(imports.filter(({ imported }) => forbidden.test(imported))).toEqual([]);
  });

  it.each(['lib', 'functions'])('%s does not know where it runs', async (folder) => {
    for await (const path of glob(`${folder}/**/*.ts`, { cwd: root }))
      expect(readFileSync(join(root, path), 'utf8')).not.toMatch(
        /localhost|127\.0\.0\.1|AWS_ENDPOINT|isLocal|NODE_ENV/i,
      );
  });
});
