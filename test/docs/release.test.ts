import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOfEach } from '../own-folder.ts';

const root = join(import.meta.dirname, '../..');
const folder = folderOfEach();
const named = (rest: string) => `{\n  "name": "x",\n  "version": "1.1.0",\n  ${rest}\n}\n`;
const FILES = {
  ...{ 'package.json': named('"private": true'), 'package-lock.json': named('"packages": {}') },
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n## 1.1.0\n\n## 1.0.0\n',
};

/** Runs `.ci/release 1.1.0` in a repository with these files, after some commands. */
function release(files: Readonly<Record<string, string>>, before = 'true') {
  const home = folder();
  mkdirSync(join(home, '.ci'));
  cpSync(join(root, '.ci/release'), join(home, '.ci/release'));
  for (const [file, text] of Object.entries({ ...FILES, ...files })) writeFileSync(join(home, file), text);
  const commands =
    'git init -qb main && git config user.name x && git config user.email x@example.com && git add . && ' +
    `git commit -qm one && ${before} && .ci/release 1.1.0 && git cat-file -t v1.1.0`;
  const env = { PATH: process.env['PATH'], HOME: home };
  const how = { cwd: home, env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', commands], how);
  return { status, text: stdout + stderr };
}

it('.ci/release tags a commit of main whose files have the version', () => {
  const { status, text } = release({});
  expect(text).toMatch(/^v1\.1\.0 is [0-9a-f]{12}\. To publish it: git push origin v1\.1\.0\ntag\n$/);
  expect(status).toBe(0);
});

const old = (file: keyof typeof FILES) => ({ [file]: FILES[file].replace('1.1.0', '1.0.0') });
it.each([
  ['package.json', old('package.json'), 'package.json has 1.0.0. Run: npm version'],
  ['the lock file', old('package-lock.json'), 'package-lock.json has 1.0.0'],
  ['the changelog', { 'CHANGELOG.md': '## Unreleased\n\n## 1.0.0\n' }, 'not the first of CHANGELOG.md'],
  ['a changed tree', {}, 'the tree has changes', 'echo >> CHANGELOG.md'],
  ['a tag that is there', {}, 'the tag v1.1.0 is there', 'git tag v1.1.0'],
  ['a commit beside main', {}, 'not on main', 'git switch -qc other && git commit -qm two --allow-empty'],
])('.ci/release refuses %s and says what to do', (_, files, fault, before?: string) => {
  const { status, text } = release(files, before);
  expect(text).toContain(`No release 1.1.0: `);
  expect(text).toContain(fault);
  expect(status).toBe(1);
});

it('the tree has one version: package.json, the lock file and the changelog', () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  const lock = JSON.parse(read('package-lock.json'));
  expect([lock.version, lock.packages[''].version]).toEqual([version, version]);
  expect(/^## (\d.*)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
});
