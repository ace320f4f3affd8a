import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CodeFolder, codeFolder } from '../code-folder.ts';

/** A release. It is found by the full id of its commit, because a clone may lack its tag. */
export interface Release {
  readonly version: string;
  readonly commit: string;
}

const ROOT = join(import.meta.dirname, '../..');
export const LAST_RELEASE_FILE = join(import.meta.dirname, 'last-release.json');

/** The last release before the code in this source tree. */
export const lastRelease: Release = JSON.parse(readFileSync(LAST_RELEASE_FILE, 'utf8'));

export const git = (...parameters: readonly string[]): Buffer =>
  execFileSync('git', parameters, { cwd: ROOT, maxBuffer: 2 ** 28, stdio: 'pipe' });

/** The code of a commit, extracted from the git history. */
export const codeOf = (commit: string): CodeFolder =>
  codeFolder((folder) => {
    const archive = git('archive', commit, 'lib', 'tools', 'package.json');
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
  });

/**
 * The code of the release before. If the git history does not hold that release, prints a line and returns undefined.
 *
 * @param leftOut what is not run without that code, in the words of the printed line
 */
export function codeOfReleaseBefore(leftOut: string): CodeFolder | undefined {
  const { version, commit } = lastRelease;
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch {
    process.stderr.write(
      `NOT RUN: ${leftOut}. Release ${version} is not in the history here. In a shallow clone: git fetch --unshallow; ` +
        `in an unpacked archive: clone the repository, and check that ${commit} is in it.\n`,
    );
    return undefined;
  }
  return codeOf(commit);
}
