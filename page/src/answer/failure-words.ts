import { counted, duration } from '../format.ts';
import { MAX_RETRIES, type ReportProblem } from '../reader/reader-messages.ts';

/** What the user can do on the page about a failure. */
type Cure = 'run again' | 'change the question' | 'another token' | 'ask the operator';

/** A sentence that says why there is no report, and the cure: what the user can do about it. */
export interface FailureWords {
  readonly sentence: string;
  readonly cure: Cure;
}

/**
 * Returns the sentence and the cure for a problem. The sentence has the problem's `detail` (docs/problems.md), unless
 * the question has faults or the service failed (500): the page then says that in its own words.
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

/** Says whether the page asks again by itself, if the service has said when to ask again. A countdown follows. */
export function retryWords(retries: number, isAgain: boolean): string {
  if (isAgain) return `The page asks again by itself, ${retries + 1} of ${MAX_RETRIES} times.`;
  const times = retries === 0 ? '' : `The page has asked again ${counted(retries, 'time')}. `;
  return `${times}The service can be asked again:`;
}

/** How long the user has waited, and how long the longest query may take. */
export function waitingWords(waitedMs: number, longestSeconds: number | undefined): string {
  const longest =
    longestSeconds === undefined
      ? ''
      : `; the longest query may take ${duration(longestSeconds * 1_000).replace(/ 0 s$/, '')}`;
  return `You have waited ${Math.max(0, Math.round(waitedMs / 1_000))} s${longest}.`;
}
