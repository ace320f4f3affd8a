import { join } from 'node:path';
import { decisionIndex, readDecisions } from './decision-index.ts';
import { idleCostTable } from './idle-cost.ts';
import { withMadePart } from './made-part.ts';
import { permissionPartTable } from './permission-part-table.ts';
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
  { page: 'docs/deploy.md', make: (text) => withMadePart(text, 'What a stage costs idle', idleCostTable()) },
  {
    page: 'docs/security.md',
    make: (text) => withMadePart(text, 'The actions and folders', permissionPartTable()),
  },
  { page: 'docs/problems.md', make: (text) => withMadePart(text, 'The problems', problemTable()) },
];
