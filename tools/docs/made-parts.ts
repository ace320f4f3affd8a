import { join } from 'node:path';
import { decisionIndex, readDecisions } from './decision-index.ts';
import { idleCostTable } from './idle-cost.ts';
import { withMadePart } from './made-part.ts';
import { permissionPartTable } from './permission-part-table.ts';
import { problemTable } from './problem-table.ts';

/** A page of which a part is made. */
export interface MadePage {
  readonly page: string;
  /** Returns the page's text with that part made anew. */
  make(text: string): string;
}

/** Every page of which a part is made, in the repository at `root`. */
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
