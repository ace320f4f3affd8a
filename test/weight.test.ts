import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/**
 * The most lines of each top-level folder, and the most files of `lib`. Who adds takes out. A bound goes down when its
 * folder gets lighter. It goes up only by a commit that says what was taken out for it.
 */
const AT_MOST: Readonly<Record<string, number>> = {
  functions: 88,
  lib: 6_997,
  'files of lib': 72,
  infra: 3_387,
  local: 5_291,
  'lake-check': 1_950,
  tools: 5_600,
  page: 8_591,
  connectors: 2_096,
  bench: 3_133,
  test: 38_100,
  docs: 5_596,
};

/** Files that nobody reads line by line: data and pictures. */
const NOT_COUNTED = /\.(json|png|svg|ico|jpe?g|gif|webp)$/;

/** The files that git tracks, without those that are deleted here. They need no history. */
function trackedFiles(): string[] {
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  const files = (stdout ?? '').split('\0').filter((path) => path !== '');
  // In an unpacked archive, git fails or finds a repository around it.
  if (!files.includes('package.json'))
    throw new Error('This test counts the files that git tracks. Run it in a clone of the repository.');
  return files.filter((path) => existsSync(join(root, path)));
}

/** The counts that the table bounds, by their names in the table. Folders such as `.ci` are not counted. */
function countsNow(): Record<string, number> {
  const counts = Object.fromEntries(Object.keys(AT_MOST).map((name) => [name, 0]));
  const add = (name: string, count: number) => {
    counts[name] = (counts[name] ?? 0) + count;
  };
  for (const path of trackedFiles()) {
    const [, folder] = /^([^./][^/]*)\//.exec(path) ?? [];
    if (folder === undefined || NOT_COUNTED.test(path)) continue;
    add(folder, readFileSync(join(root, path), 'utf8').split('\n').length - 1);
    if (folder === 'lib') add('files of lib', 1);
  }
  return counts;
}

describe('the weight of the code', () => {
  it('is at most that of the table, for each folder', () => {
    const counts = Object.entries(countsNow());
    const tooMany = counts.filter(([name, now]) => now > (AT_MOST[name] ?? 0));
    const words = ([name, now]: readonly [string, number]) =>
      `${name}: ${now}, at most ${AT_MOST[name] ?? 0}`;
    expect(
      tooMany.length,
      `Too many lines or files: ${tooMany.map(words).join('; ')}.
Take out what has become needless. Else raise the bound in test/weight.test.ts, and say in the commit what went for it.
Lower each bound whose folder has become lighter. All counts now:
${counts.map(words).join('\n')}
`,
    ).toBe(0);
  });

  it('is not bought by longer lines', () => {
    const widths = readFileSync(join(root, 'biome.json'), 'utf8').match(/"lineWidth": *\d+/g);
    expect(widths).toEqual(['"lineWidth": 110']);
  });
});
