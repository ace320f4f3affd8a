import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './stage.ts';

const ROOT = join(import.meta.dirname, '..');

/** Characters of the hash. There are few releases, so these tell them apart. */
const HASH_LENGTH = 6;

/**
 * The name of a release: its commit and a short hash of the stage's settings, because other settings are another
 * release. Without git, as in an unpacked archive, the product's version stands for the commit. If the code may differ
 * from the commit or the version, it is hashed too, and `-changed` follows the commit.
 *
 * @param bundles the folder of the bundled functions
 * @param given what the operator names the code, in place of the commit
 */
export function releaseName(stage: Stage, bundles: string, given?: string, root = ROOT): string {
  const { code, isExact } = given === undefined ? codeIn(root) : { code: given, isExact: true };
  const hash = createHash('sha256').update(JSON.stringify(stage, withSortedMembers));
  if (!isExact)
    for (const file of readdirSync(bundles, { recursive: true, withFileTypes: true }).sort(byPath))
      if (file.isFile()) hash.update(readFileSync(join(file.parentPath, file.name)));
  return `${code}-${hash.digest('hex').slice(0, HASH_LENGTH)}`;
}

/** The commit or version of the code in a folder, and whether the code is known to be exactly that. */
function codeIn(root: string): { readonly code: string; readonly isExact: boolean } {
  const git = (...args: string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  // An archive may lie in a repository of something else, which then does not know this file.
  const commit = git('ls-files', '--error-unmatch', 'package.json') && git('rev-parse', '--short=12', 'HEAD');
  if (commit === undefined)
    return { code: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version, isExact: false };
  const isExact = git('status', '--porcelain', '--untracked-files=no', '.') === '';
  return { code: isExact ? commit : `${commit}-changed`, isExact };
}

const byPath = (one: Entry, other: Entry): number =>
  join(one.parentPath, one.name) < join(other.parentPath, other.name) ? -1 : 1;
type Entry = { readonly parentPath: string; readonly name: string };

const withSortedMembers = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
