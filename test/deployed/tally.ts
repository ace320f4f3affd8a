import { readFile } from 'node:fs/promises';

/** What vitest's JSON reporter tells, as far as it is read here. */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** What the lane has run. */
export interface Tally {
  /** Asked the deployed URL. */
  endToEnd: number;
  /** A function was seen to fail without a statement of its role. */
  statements: number;
  /** Of roles and of a deployment's life. */
  others: number;
  failed: number;
  leftOut: number;
}

export const emptyTally = (): Tally => ({ endToEnd: 0, statements: 0, others: 0, failed: 0, leftOut: 0 });

/** Adds what a suite's JSON report tells. */
export async function count(tally: Tally, reportFile: string): Promise<void> {
  const { testResults }: VitestReport = JSON.parse(await readFile(reportFile, 'utf8'));
  for (const { name, assertionResults } of testResults)
    for (const { title, status } of assertionResults) tally[kindOf(name, title, status)] += 1;
}

function kindOf(file: string, title: string, status: string): keyof Tally {
  if (status === 'failed') return 'failed';
  if (status !== 'passed') return 'leftOut';
  if (title.includes(' does not work without ')) return 'statements';
  return /(permissions|life)\.test\.ts$/.test(file) ? 'others' : 'endToEnd';
}

export const inWords = ({ endToEnd, statements, others, failed, leftOut }: Tally): string =>
  `${endToEnd} end-to-end cases ran against the deployed URL, ${statements} statements of roles were seen to be ` +
  `needed, ${others} further cases of roles and of a deployment's life passed; ${failed} failed, ` +
  `${leftOut} were left out (test/deployed/local-only.ts).`;
