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

/** The rooms of `lib/`. Each imports only from the rooms before it, and from the files directly in `lib/`. */
const ROOMS = [
  'problems',
  'report',
  'csv',
  'lake',
  'access',
  'results',
  'delivery',
  'aws',
  'openapi',
  'http',
  'probe',
] as const;

/**
 * AWS's packages except `aws-lambda`, and modules that call AWS or read settings. The rooms that only apply rules import
 * none of them.
 */
const AWS = /^(@aws|aws-(?!lambda))|^lib\/(aws|config)/;

describe('in the layers of the code,', () => {
  it('lib has only the rooms of the list, and the room terminal', () => {
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

  it.each([['lib/aws', 'lib/{lake,results,delivery}']])(
    '%s imports only types from %s',
    async (place, from) => {
      const folders = RegExp(`^${from.replace('{', '(').replaceAll(',', '|').replace('}', ')')}/`);
      const imports = await importsUnder(place);
      expect(imports.filter(({ imported, isTypeOnly }) => folders.test(imported) && !isTypeOnly)).toEqual([]);
    },
  );

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

describe('docs/architecture.md', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

  it('lists the rooms of lib, in their order', () => {
    const [, rows = ''] = page.split('| room | what it holds | may import |\n');
    const [table = ''] = rows.split('\n\n');
    const listed = [...table.matchAll(/^\| `lib\/([\w-]+)` \|/gm)].map(([, room]) => room);
    expect(listed).toEqual(ROOMS);
  });
});
