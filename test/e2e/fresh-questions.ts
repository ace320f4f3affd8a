import type { Question } from './expected-report.ts';

/** Makes new questions, which have no stored report and no query yet. */
export function freshQuestions(): () => Question {
  let asked = 0;
  return () => ({
    fields: ['Day', 'Clicks'],
    start: '2026-01-01T00:00:00Z',
    end: `2026-01-20T${new Date(++asked * 1_000).toISOString().slice(11, 19)}Z`,
  });
}
