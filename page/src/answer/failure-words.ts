import { duration } from '../format.ts';
import type { ReportProblem } from '../reader/reader-messages.ts';

/** Where a failure can be cured from the page. */
type Cure = 'run again' | 'change the question' | 'another token' | 'ask the operator';

/** Why there is no report, what to do about it, and what to quote to the operator. */
export interface FailureWords {
  readonly sentence: string;
  readonly cure: Cure;
}

/**
 * The sentence that says why there is no report: the service's own (docs/problems.md) if it has one. And where on
 * the page the user can put it right.
 */
export function failureWords({ status, detail, errors }: ReportProblem): FailureWords {
  if (errors && errors.length > 0)
    return { sentence: 'The service refused the question.', cure: 'change the question' };
  switch (status) {
    case 400:
      return { sentence: detail, cure: 'change the question' };
    case 401:
      return { sentence: `The service refused the token: ${detail}`, cure: 'another token' };
    case 500:
      return {
        sentence: 'The service failed while it made the report; the question is not at fault.',
        cure: 'ask the operator',
      };
    default:
      return { sentence: detail, cure: 'run again' };
  }
}

/** How long the user has waited, and how long the longest query may take. */
export function waitingWords(waitedMs: number, longestSeconds: number | undefined): string {
  const longest =
    longestSeconds === undefined
      ? ''
      : `; the longest query may take ${duration(longestSeconds * 1_000).replace(/ 0 s$/, '')}`;
  return `You have waited ${Math.max(0, Math.round(waitedMs / 1_000))} s${longest}.`;
}
