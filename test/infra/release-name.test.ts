import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { releaseName } from '../../infra/release-name.ts';
import { readStage } from '../../infra/stage.ts';
import { grownAccount } from './accounts.ts';

const stage = readStage('test', grownAccount);

/** A folder with a package of version 1.2.3 and a bundle, under Git if `isCommitted`, and the names of its releases. */
function project(isCommitted: boolean) {
  const root = mkdtempSync(join(tmpdir(), 'release-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  const git = (...args: string[]) => {
    const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
    return execFileSync('git', [...who, ...args], { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  };
  write('package.json', '{"version":"1.2.3"}');
  mkdirSync(join(root, 'bundles'));
  write('bundles/index.mjs', '1');
  if (isCommitted)
    for (const step of ['init', 'add package.json', 'commit -m first']) git(...step.split(' '));
  const name = (of = stage, given?: string) => releaseName(of, join(root, 'bundles'), given, root);
  return { write, git, name };
}

it('names a release by its commit and its settings, whatever the order of the settings', () => {
  const { git, name, write } = project(true);
  const release = name();
  expect(release).toMatch(RegExp(`^${git('rev-parse', '--short=12', 'HEAD')}-[0-9a-f]{6}$`));
  expect(name({ ...stage, reports: { ...stage.reports, longestQuerySeconds: 599 } })).not.toBe(release);
  expect(name(Object.fromEntries(Object.entries(stage).reverse()) as typeof stage)).toBe(release);
  // The commit decides what is in the bundles. Files that git does not track are the operator's own.
  write('bundles/index.mjs', '2');
  expect(name()).toBe(release);
});

it('names changed code by what is in its bundles', () => {
  const { name, write } = project(true);
  write('package.json', '{"version":"1.2.4"}');
  const release = name();
  expect(release).toMatch(/^[0-9a-f]{12}-changed-[0-9a-f]{6}$/);
  write('bundles/index.mjs', '2');
  expect(name()).not.toBe(release);
});

it('names a release without git by its version, even in a repository of something else', () => {
  const { git, name, write } = project(false);
  const release = name();
  expect(release).toMatch(/^1\.2\.3-[0-9a-f]{6}$/);
  git('init');
  git('commit', '--allow-empty', '-m', 'first');
  expect(name()).toBe(release);
  write('bundles/index.mjs', '2');
  expect(name()).not.toBe(release);
});

it('takes the operator’s name in place of the commit', () => {
  const { name } = project(false);
  expect(name(stage, 'mine')).toMatch(/^mine-[0-9a-f]{6}$/);
  expect(name({ ...stage, logDays: 3 }, 'mine')).not.toBe(name(stage, 'mine'));
});
