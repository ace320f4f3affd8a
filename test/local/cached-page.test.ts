import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cachedPage } from '../../local/cached-page.ts';
import { buildPage } from '../../page/build-page.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'page-'));
});
afterEach(() => rm(home, { recursive: true }));

const filesIn = async (directory: string) =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(directory)).map(
        async (name) => [name, await readFile(join(directory, name), 'utf8')] as const,
      ),
    ),
  );

describe('the page of the one-machine service', () => {
  it('has the same files as the deployed page, whether it is newly built or cached', async () => {
    buildPage(join(home, 'deployed'));
    for (const which of ['made', 'kept']) {
      cachedPage(join(home, which), join(home, 'cache/page.json'));
      expect(await filesIn(join(home, which))).toEqual(await filesIn(join(home, 'deployed')));
    }
    expect(await readdir(join(home, 'cache'))).toEqual(['page.json']);
  });

  it.each<[string, (kept: { digests: Record<string, string> }) => unknown, boolean]>([
    ['not built again if its sources are the same', (kept) => kept, true],
    [
      'built again if a source has changed',
      (kept) => ({ ...kept, digests: { ...kept.digests, 'page/src/page.css': 'another' } }),
      false,
    ],
    [
      'built again if a source no longer exists',
      (kept) => ({ ...kept, digests: { ...kept.digests, 'page/src/gone.ts': 'it' } }),
      false,
    ],
    ['built again if the cache can’t be read', () => 'no page', false],
    ['built again if the cache holds no page', () => ({ digests: {}, files: {} }), false],
  ])('is %s', async (_, change, isKept) => {
    const kept = join(home, 'page.json');
    cachedPage(join(home, 'first'), kept);
    const page = JSON.parse(await readFile(kept, 'utf8'));
    expect(Object.keys(page.digests)).toEqual(
      expect.arrayContaining([
        'page/src/page.html',
        'page/src/run.ts',
        'lib/report/catalogue.ts',
        'page/build-page.ts',
      ]),
    );
    page.files['page.css'] = 'marked';
    const changed = change(page);
    await writeFile(kept, typeof changed === 'string' ? changed : JSON.stringify(changed));
    cachedPage(join(home, 'second'), kept);
    expect((await filesIn(join(home, 'second')))['page.css'] === 'marked').toBe(isKept);
  });

  it('is built if no cache can be written', async () => {
    await writeFile(join(home, 'a-file'), '');
    cachedPage(join(home, 'made'), join(home, 'a-file/page.json'));
    expect(Object.keys(await filesIn(join(home, 'made')))).toContain('page.html');
  });
});
