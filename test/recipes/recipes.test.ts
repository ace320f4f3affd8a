import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pullNewFields } from './pull-new-fields.ts';
import { type Recipe, readRecipes } from './read-recipes.ts';
import { copyTree, type TreeCopy } from './tree-copy.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(resolve(ROOT, path), 'utf8');

/** Fails unless `npm start` has exactly these new fields, and each has at least two different values. */
async function expectNewFields({ directory }: TreeCopy, names: readonly string[]): Promise<void> {
  const pulled = await pullNewFields(directory);
  expect(pulled.map(({ name }) => name)).toEqual(names);
  for (const { name, values } of pulled) expect(new Set(values).size, name).toBeGreaterThan(1);
}

/** The checks that run after a recipe's steps, by the recipe's title. */
const OUTCOMES: Readonly<Record<string, (copy: TreeCopy, recipe: Recipe) => Promise<void>>> = {
  async 'Add a field'(copy, { steps }) {
    const linesOf = (text: string) => text.split('\n').length;
    const added = steps.map((step) =>
      step.kind === 'edit' ? linesOf(step.after) - linesOf(step.before) : 0,
    );
    expect(added.filter((lines) => lines > 0)).toEqual([2]);
    const changed = ['docs/data-contract.md', 'docs/openapi.json', 'lib/report/catalogue.ts'];
    expect(await copy.changedFiles()).toEqual(changed);
    await expectNewFields(copy, ['AppName', 'Bounces']);
  },
  'Add a report': (copy) =>
    expectNewFields(copy, ['DateTime', 'Day', 'PublisherAccountId', 'SiteName', 'Visits']),
};

/**
 * The tests of `npm test` in one process each, after each recipe: none may need an edit. The worlds and the release before
 * do not depend on what a recipe changes, and a copy is heavier than the bounds of the tree.
 */
const ROOMS = ['docs', 'infra', 'lake-check', 'lib', 'local', 'openapi', 'page', 's3', 'tools'];
const IN_PROCESS_TESTS = `vitest run --project unit --reporter=minimal test/layers ${ROOMS.map((room) => `test/${room}/`).join(' ')}`;

describe('CONTRIBUTING.md', () => {
  const guide = read('CONTRIBUTING.md');
  const recipes = readRecipes(guide);

  it('has every recipe for which this test expects an outcome', () => {
    expect(recipes.map(({ title }) => title)).toEqual(expect.arrayContaining(Object.keys(OUTCOMES)));
  });

  it('says what every test suite is for', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const suites = Object.keys(scripts).filter((name) => /^test\b/.test(name));
    const listed = [...guide.matchAll(/^\| `npm (?:run )?(test[\w:]*)` \| .{10,} \|$/gm)].map(
      ([, name]) => name,
    );
    expect(listed.toSorted()).toEqual(suites.toSorted());
  });

  it.each(recipes)('has a recipe "$title" that works', async (recipe) => {
    await using copy = await copyTree();
    for (const step of recipe.steps) await copy.follow(step);
    await OUTCOMES[recipe.title]?.(copy, recipe);
    await copy.follow({ kind: 'run', command: IN_PROCESS_TESTS });
  });
});
