import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tables } from '../../lib/report/tables.ts';
import { madeParts, readDecision, readDecisions, withMadePart } from '../../tools/write-docs.ts';

const root = join(import.meta.dirname, '../..');

describe('the generated part of a page', () => {
  it.each([...madeParts(root)])('is the current output of npm run docs: $page', ({ page, make }) => {
    const text = readFileSync(join(root, page), 'utf8');
    expect(text).toBe(make(text));
  });

  it('names every column of the data contract with its type', () => {
    const page = readFileSync(join(root, 'docs/data-contract.md'), 'utf8');
    for (const { name, type } of tables.flatMap(({ columns }) => columns))
      expect(page).toContain(`| \`${name}\` | ${type} | `);
  });

  it('replaces the text between its marks, and nothing else', () => {
    const page =
      'a\n<!-- X, made by `npm run docs`; edits here are lost. -->\nold\n<!-- The end of what is made. -->\nb\n';
    const made = withMadePart(page, 'X', 'new');
    expect(made).toBe(page.replace('\nold\n', '\n\nnew\n\n'));
    expect(withMadePart(made, 'X', 'new')).toBe(made);
    expect(() => withMadePart('a', 'X', 'new')).toThrow('a page has lost its marks: X');
  });
});

describe('the decision records', () => {
  it('have each number once: as a file, or in the status of the record that it is part of', () => {
    const records = readDecisions(join(root, 'docs/decisions'));
    const takenIn = records.flatMap(({ status }) => /with ([\d, ]+)/.exec(status)?.[1]?.split(', ') ?? []);
    // What decision 5 said is the contract.
    const numbers = [...records.map(({ number }) => number), ...takenIn.map(Number), 5];
    expect(numbers.sort((one, other) => one - other)).toEqual(numbers.map((_, index) => index + 1));
  });

  it.each([
    ['no status', '# 1. A\n\n**Context.** B\n'],
    ['a number that is not the file’s', '# 2. A\n\n*2026-01-01 · holds*\n'],
    ['no date', '# 1. A\n\n*holds*\n'],
  ])('are refused with %s, and the error says how they must begin', (_, text) => {
    expect(() => readDecision('0001-a.md', text)).toThrow(
      '0001-a.md must begin with "# <its number>. <title>"',
    );
  });
});
