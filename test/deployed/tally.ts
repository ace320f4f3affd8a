import { readFile } from 'node:fs/promises';

/** The members of vitest's JSON report that `count` reads. */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** How many cases `npm run test:deployed` has run or left out, by kind. */
export interface Tally {
  /** Cases that requested the deployed URL. */
  endToEnd: number;
  /** Cases in which a function failed without a statement of its role, or without a part of a statement. */
  statements: number;
  /** Cases of S3's behaviour that the service relies on, run against the emulator's S3. */
  s3: number;
  /** Further cases of roles, of the runbook and of a deployment's life. */
  others: number;
  failed: number;
  leftOut: number;
}

export const emptyTally = (): Tally => ({
  endToEnd: 0,
  statements: 0,
  s3: 0,
  others: 0,
  failed: 0,
  leftOut: 0,
});

/** Adds the cases of a suite's JSON report. */
export async function count(tally: Tally, reportFile: string): Promise<void> {
  const { testResults }: VitestReport = JSON.parse(await readFile(reportFile, 'utf8'));
  for (const { name, assertionResults } of testResults)
    for (const { title, status } of assertionResults) tally[kindOf(name, title, status)] += 1;
}

function kindOf(file: string, title: string, status: string): keyof Tally {
  if (status === 'failed') return 'failed';
  if (status !== 'passed') return 'leftOut';
  if (title.includes(' does not work without ')) return 'statements';
  if (file.endsWith('/s3.test.ts')) return 's3';
  return /(permissions|permission-parts|runbook|rollback|first-deployment|life)\.test\.ts$/.test(file)
    ? 'others'
    : 'endToEnd';
}

export const inWords = ({ endToEnd, statements, s3, others, failed, leftOut }: Tally): string =>
  `${endToEnd} end-to-end cases ran against the deployed URL, ${statements} statements and parts of roles were seen to be ` +
  `needed, ${s3} cases of S3's behaviour and ${others} further cases of roles, the runbook and a deployment's life ` +
  `passed; ${failed} failed, ${leftOut} were left out (test/deployed/local-only.ts, test/deployed/s3.test.ts).`;
