import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, linksOf } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .trim()
  .split('\n')
  // Git still lists a deleted file if the deletion is not committed.
  .filter((file) => existsSync(join(root, file)));
const pages = files.filter((file) => file.endsWith('.md'));
const sources = files.filter(
  (file) => /\.(tsx?|mjs|py|sh|yml|json)$/.test(file) && file !== 'package-lock.json',
);

/** Why a link is broken; undefined if its target exists. */
function faultOf(from: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : relative(root, join(root, dirname(from), path));
  if (!existsSync(join(root, target))) return `${from}: there is no ${target}`;
  if (anchor === undefined || anchorsOf(read(target)).includes(anchor)) return undefined;
  return `${from}: ${target} has no #${anchor}`;
}

describe('the documents', () => {
  it('link only to pages and anchors that exist', () => {
    const links = pages.flatMap((page) => linksOf(read(page)).map((link) => [page, link] as const));
    expect(links.length).toBeGreaterThan(60);
    expect(links.map(([page, link]) => faultOf(page, link)).filter(Boolean)).toEqual([]);
  });

  it('name only files that exist', () => {
    const named = pages.flatMap((page) =>
      [
        ...read(page).matchAll(
          /`((?:\.ci|bench|connectors|docs|functions|infra|lake-check|lib|local|page|test|tools)\/[\w./-]*)`/g,
        ),
      ].map(([, file = '']) => [page, file] as const),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(([, file]) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('have every anchor that the code names', () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/([\w/.-]+\.md(?:#[\w-]+)?)/g)].map(
        ([, link = '']) => [file, `${relative(dirname(file), 'docs')}/${link}`] as const,
      ),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.map(([file, link]) => faultOf(file, link)).filter(Boolean)).toEqual([]);
  });

  it('are not cited in the code by the number of a section', () => {
    const numbered = sources.filter((file) => /\bcontract,? \d/i.test(read(file)));
    expect(numbered).toEqual([]);
  });
});
