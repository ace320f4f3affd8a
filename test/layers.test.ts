import { readdirSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

interface Import {
  readonly file: string;
  /** The name of a package, or a file's path from the root. */
  readonly imported: string;
  /** Whether the import is only for types, so that it is gone when the program runs. */
  readonly isTypeOnly: boolean;
}

async function importsUnder(place: string): Promise<Import[]> {
  const found: Import[] = [];
  for await (const path of glob(place.endsWith('.ts') ? place : `${place}/**/*.{ts,tsx}`, { cwd: root })) {
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

const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const [, table = ''] = /\| room \| what it holds \| may import \|\n(.*?)\n\n/s.exec(architecture) ?? [];
/** The rooms of `lib/`, as docs/architecture.md lists them. Each imports only from those before it, and from `lib/` itself. */
const ROOMS = [...table.matchAll(/^\| `lib\/([\w-]+)` \|/gm)].map(([, room]) => room ?? '');

/**
 * AWS's packages except `aws-lambda`, and modules that call AWS or read settings. The rooms that only apply rules import
 * none of them.
 */
const AWS = /^(@aws|aws-(?!lambda))|^lib\/(aws|config)/;

describe('in the layers of the code,', () => {
  it('lib has only the rooms that docs/architecture.md lists, and the room terminal', () => {
    const rooms = readdirSync(join(root, 'lib'), { withFileTypes: true });
    expect(new Set(rooms.filter((entry) => entry.isDirectory()).map(({ name }) => name))).toEqual(
      new Set([...ROOMS, 'terminal']),
    );
  });

  it.each(ROOMS)('lib/%s imports no room of lib that comes after it', async (room) => {
    const above = RegExp(`^lib/(${[...ROOMS.slice(ROOMS.indexOf(room) + 1), 'terminal'].join('|')})/`);
    const imports = await importsUnder(`lib/${room}`);
    expect(imports.filter(({ imported }) => above.test(imported))).toEqual([]);
  });

  it.each([
    ['lib', /^(functions|infra|lake-check|local|page|tools|test|bench)\//],
    ['functions', /^(infra|lake-check|local|page|tools|test|bench)\/|^lib\/terminal/],
    ['lib/{problems,report,csv,lake,results,delivery}', AWS],
    ['lib/openapi', /^@aws|^lib\/(aws|http)/],
    ['lib/access', /^@aws|^lib\/config/],
    ['lib/terminal', /^lib\/(?!terminal|report)/],
    [
      'infra',
      /^(functions|lake-check|local|tools|test|bench)\/|^lib\/(?!report|problems|terminal)[^/]+\/(?!access-details)/,
    ],
    ['lake-check', /^(functions|infra|local|page|tools|test|bench)\/|^lib\/(?!report|terminal)/],
    ['lake-check/rules', /^(@aws|@duckdb|node:)/],
    ['local', /^(functions|infra|tools|test|bench)\/|^lib\/(lake|results|delivery|aws)\//],
    [
      'page',
      /^(functions|infra|lake-check|local|tools|test|bench)\/|^lib\/(?!report|problems|access)[^/]+\//,
    ],
    ['tools', /^(functions|page|test|bench)\//],
  ])('%s imports nothing that matches %s', async (place, forbidden) => {
    const imports = await importsUnder(place);
    expect(imports.filter(({ imported }) => forbidden.test(imported))).toEqual([]);
  });

  it('lib/aws imports only types from the rooms whose interfaces it implements', async () => {
    const imports = await importsUnder('lib/aws');
    const values = imports.filter(({ isTypeOnly }) => !isTypeOnly);
    expect(values.filter(({ imported }) => /^lib\/(lake|results|delivery)\//.test(imported))).toEqual([]);
  });

  it.each(['lib', 'functions'])(
    '%s has no code that checks whether it runs on AWS or on one machine',
    async (folder) => {
      for await (const path of glob(`${folder}/**/*.ts`, { cwd: root }))
        expect(readFileSync(join(root, path), 'utf8')).not.toMatch(
          /localhost|127\.0\.0\.1|AWS_ENDPOINT|isLocal|NODE_ENV/i,
        );
    },
  );
});
