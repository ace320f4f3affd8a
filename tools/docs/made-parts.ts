import { join } from 'node:path';
import { decisionIndex, readDecisions } from './decision-index.ts';
import { problemTable } from './problem-table.ts';

/** A page with a generated part. */
export interface MadePage {
  readonly page: string;
  /** Returns the page's text with that part generated again. */
  make(text: string): string;
}

/** Every page with a generated part, in the repository at `root`. */
export const madeParts = (root: string): readonly MadePage[] => [
  {
    page: 'docs/decisions/README.md',
    make: (text) =>
      withMadePart(text, 'The records', decisionIndex(readDecisions(join(root, 'docs/decisions')))),
  },
  { page: 'docs/problems.md', make: (text) => withMadePart(text, 'The problems', problemTable()) },
];

const begin = (what: string) => `<!-- ${what}, made by \`npm run docs\`; edits here are lost. -->`;
const END = '<!-- The end of what is made. -->';

/** Replaces the generated part between a page's marks. Throws an Error if the page has no such marks. */
export function withMadePart(page: string, what: string, made: string): string {
  const [before, rest] = page.split(begin(what));
  const after = rest?.slice(rest.indexOf(END));
  if (before === undefined || !after?.startsWith(END)) throw new Error(`a page has lost its marks: ${what}`);
  return `${before}${begin(what)}\n\n${made}\n\n${after}`;
}
