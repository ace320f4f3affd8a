import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

interface Import {
  readonly file: string;
  /** A package by its name, a file by its path from the root. */
  readonly imported: string;
  /** Whether the import is gone when the program runs. */
  readonly isTypeOnly: boolean;
}

/** The imports of a file, or of every file under a folder. */
async function importsUnder(place: string): Promise<Import[]> {
  const found: Import[] = [];
  for await (const path of glob(place.endsWith('.ts') ? place : `${place}/**/*.ts`, { cwd: root })) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [, type, named, awaited] of text.matchAll(
      /^(?:import|export)(?: (type))? (?:[^;']*from )?'([^']+)'|import\('([^']+)'\)/gm,
    )) {
      const specifier = named ?? awaited ?? '';
      const imported = specifier.startsWith('.')
        ? relative(root, resolve(root, path, '..', specifier))
        : specifier;
      found.push({ file: path, imported, isTypeOnly: type !== undefined });
    }
  }
  expect(found.length).toBeGreaterThan(0);
  return found;
}

describe('the layers of the code', () => {
  it.each([
    ['lib', /^(functions|infra|local|tools|test|bench)\//],
    ['functions', /^(infra|local|tools|test|bench)\//],
    ['lib/report', /^(@aws|aws-|lib\/(?!report\/|answers\/problem\.ts))/],
    ['infra', /^(functions|local|tools|test|bench|lib\/(delivery|token))/],
    ['local', /^(infra|tools|test|bench|lib\/delivery)/],
    ['tools', /^(functions|test|bench)\//],
    ['local/lake/rules', /^(@aws|@duckdb|node:)/],
    ['lib/{answers,aws,csv,delivery,openapi,report,token}', /^lib\/handlers/],
    ['lib/delivery', /^(@aws|aws-|lib\/(aws|config|token))/],
    ['lib/csv', /^(@aws|aws-|lib\/(?!csv\/|report\/))/],
    // lib/config imports the shape of a token's rule from lib/token, not the other way round.
    ['lib/token', /^lib\/(config|aws|delivery)/],
  ])('%s imports nothing that matches %s', async (place, forbidden) => {
    const imports = await importsUnder(place);
    expect(imports.filter(({ imported }) => forbidden.test(imported))).toEqual([]);
  });

  it('lib/answers imports only types from lib/delivery', async () => {
    const imports = await importsUnder('lib/answers');
    const ofDelivery = imports.filter(({ imported }) => imported.startsWith('lib/delivery/'));
    expect(ofDelivery.length).toBeGreaterThan(0);
    expect(ofDelivery.filter(({ isTypeOnly }) => !isTypeOnly)).toEqual([]);
  });

  it('no two folders of lib import each other at run time', async () => {
    const imports = await importsUnder('lib');
    const folderOf = (file: string) => file.split('/')[1] ?? '';
    const needs = new Set(
      imports
        .filter(({ imported, isTypeOnly }) => !isTypeOnly && imported.startsWith('lib/'))
        .map(({ file, imported }) => `${folderOf(file)} ${folderOf(imported)}`),
    );
    const circles = [...needs].filter((need) => {
      const [from, to] = need.split(' ');
      return from !== to && needs.has(`${to} ${from}`);
    });
    expect(circles).toEqual([]);
  });

  it.each(['lib', 'functions'])('%s does not know where it runs', async (folder) => {
    for await (const path of glob(`${folder}/**/*.ts`, { cwd: root }))
      expect(readFileSync(join(root, path), 'utf8')).not.toMatch(
        /localhost|127\.0\.0\.1|AWS_ENDPOINT|isLocal|NODE_ENV/i,
      );
  });
});
