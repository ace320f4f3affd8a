/** The page's worker. It reads a report and answers the page's requests about its rows. */
import { askReport, NoReport } from './ask-report.ts';
import { BrokenCsv } from './read-csv.ts';
import { FailedFile, readReport } from './read-report.ts';
import type { ReaderAnswer, ReaderRequest, ReportProblem } from './reader-messages.ts';
import { type ReportAnswers, reportAnswers } from './report-answers.ts';

let answers: ReportAnswers | undefined;

const tell = (answer: ReaderAnswer) => postMessage(answer);

addEventListener('message', ({ data }: MessageEvent<ReaderRequest>) => {
  if (data.kind !== 'read') {
    if (answers) tell(answers.answer(data));
    return;
  }
  readReport(data, askReport, tell)
    .then((read) => {
      if (!read) return;
      answers = reportAnswers(data.report, read, data.look);
      tell(answers.done);
    })
    .catch((error) =>
      tell({
        kind: 'failed',
        problem: problemFor(error instanceof FailedFile ? error.cause : error),
        ...(error instanceof FailedFile && error.isBefore && { isBefore: true }),
      }),
    );
});

function problemFor(error: unknown): ReportProblem {
  if (error instanceof NoReport) return error.problem;
  return {
    title: 'The download broke off',
    detail:
      error instanceof BrokenCsv
        ? `${error.message} Run the report again.`
        : 'The connection ended before the file did. Run the report again.',
  };
}
