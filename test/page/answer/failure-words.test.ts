import { describe, expect, it } from 'vitest';
import { knownProblems } from '../../../lib/problems/problem.ts';
import { failureWords, retryWords, waitingWords } from '../../../page/src/answer/failure-words.ts';

describe('failureWords', () => {
  it.each(knownProblems('scope').map((known) => [known.name, known] as const))(
    'gives a sentence and a cure for %s, and never the problem’s title alone',
    (_, { document, status }) => {
      const { sentence, cure } = failureWords({ ...document, status });
      expect(sentence).toMatch(/\.$/);
      expect(sentence).not.toBe(document.title);
      const again = 'run again';
      const cures: Record<number, string> = {
        400: 'change the question',
        401: 'another token',
        429: again,
        503: again,
      };
      if (status in cures) expect(cure).toBe(cures[status]);
      if (status === 500)
        expect([sentence, cure]).toEqual([
          'The service failed while it made the report; the question is not at fault.',
          'ask the operator',
        ]);
    },
  );

  it('offers the reports that the client may request, and no other token, where the problem names them', () => {
    const problem = { status: 401, title: '', detail: '', reports: ['advertiserperformance'] };
    expect(failureWords(problem)).toEqual({
      sentence: 'This client may see no row of this report.',
      cure: 'another report',
    });
  });
});

it.each([
  [24_400, 600, 'You have waited 24 s; the longest query may take 10 min.'],
  [400, undefined, 'You have waited 0 s.'],
  [1_000, 90, 'You have waited 1 s; the longest query may take 1 min 30 s.'],
])('waitingWords describes a wait of %d ms if a query may take %s s', (waitedMs, longest, words) => {
  expect(waitingWords(waitedMs, longest)).toBe(words);
});

it.each([
  [0, true, 'The page asks again by itself, 1 of 3 times.'],
  [2, true, 'The page asks again by itself, 3 of 3 times.'],
  [3, false, 'The page has asked again 3 times. The service can be asked again:'],
  [0, false, 'The service can be asked again:'],
])('retryWords tells after %d tries whether another one comes by itself (%s)', (retries, isAgain, words) => {
  expect(retryWords(retries, isAgain)).toBe(words);
});
