import { spawnSync } from 'node:child_process';

const git = (...args: string[]): string | undefined => {
  const { status, stdout } = spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

/**
 * The commit that is deployed. If tracked files differ from the commit, `-changed` follows it. Without git, as in an
 * unpacked archive, it is `unknown`.
 */
export function readCommit(): string {
  const commit = git('rev-parse', '--short=12', 'HEAD');
  if (commit === undefined) return 'unknown';
  return git('status', '--porcelain', '--untracked-files=no') === '' ? commit : `${commit}-changed`;
}
