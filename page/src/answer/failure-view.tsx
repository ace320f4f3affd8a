import { reports } from '../../../lib/report/catalogue.ts';
import { focusOn, Pill } from '../buttons.tsx';
import { duration } from '../format.ts';
import { chosenPartner } from '../question/caller.ts';
import { callerInputs } from '../question/caller-step.tsx';
import { faultWords } from '../question/fault-words.ts';
import { chooseReport } from '../question/report-step.tsx';
import { askForReport } from '../question/run-bar.tsx';
import type { ReportProblem } from '../reader/reader-messages.ts';
import { cancelRun, isOfAnotherQuestion, isRetrying, type Run } from '../run.ts';
import { serviceFacts } from '../service-facts.ts';
import { isBuilderOpen } from '../state.ts';
import { failureWords, retryWords } from './failure-words.ts';
import { useNow } from './progress-view.tsx';

/** Says why there is no report, with a button that leads to the remedy. */
export function FailureView({ run }: { readonly run: Run }) {
  const { problem, isBeforeMissing, choice, days, retries } = run;
  if (!problem) return null;
  const isAgain = isRetrying(run) && !isOfAnotherQuestion(run);
  const { sentence, cure } = failureWords(problem);
  const { contact } = serviceFacts.value;
  const isRunAgain = cure === 'run again' || cure === 'ask the operator';
  return (
    <div class="failure" role="alert">
      <p>
        <strong>
          {isBeforeMissing && 'The days to compare with could not be had. '}
          {sentence}
        </strong>
        {cure === 'another report' && ' It may request another one.'}
        {cure === 'another token' &&
          (chosenPartner.value === '' ? ' Paste a new token.' : ' Choose another partner.')}
        {cure === 'ask the operator' &&
          ` Run it again; if it fails again, send the trace id to ${contact ?? 'the operator'}.`}
      </p>
      {problem.errors && (
        <ul>
          {problem.errors.map(({ parameter, detail }) => (
            <li key={parameter + detail}>
              {isBeforeMissing ? detail : faultWords({ parameter, detail }, { fields: choice.fields, days })}
            </li>
          ))}
        </ul>
      )}
      {problem.instance && (
        <p class="hint">
          Trace id: <code>{problem.instance}</code>
          {problem.help && <a href={problem.help}> What this means</a>}
        </p>
      )}
      {run.retryAt !== undefined && (
        <p>
          {retryWords(retries, isAgain)} <Countdown until={run.retryAt} />
        </p>
      )}
      <Pill
        onClick={() => {
          if (isRunAgain) return askForReport();
          isBuilderOpen.value = true;
          if (cure === 'another report') chooseReport(problem.reports?.[0] ?? choice.report);
          const inputs = cure === 'another token' ? callerInputs() : ['.run-bar button'];
          focusOn('.builder [aria-invalid="true"]', ...inputs);
        }}
      >
        {isRunAgain ? 'Run it again' : cure === 'another report' ? offerOf(problem) : 'Change the question'}
      </Pill>{' '}
      {isAgain && (
        <Pill
          onClick={() => {
            cancelRun();
            focusOn('#result-title', '.question button');
          }}
        >
          Don’t ask again
        </Pill>
      )}
    </div>
  );
}

/** The words of the button that chooses the report that the client may request. */
const offerOf = ({ reports: [name] = [] }: ReportProblem) =>
  `Choose the ${reports.find((report) => report.name === name)?.title.toLowerCase() ?? 'other report'}`;

/** Counts the seconds down. Screen readers do not read them: they would read every second aloud. */
function Countdown({ until }: { readonly until: number }) {
  const seconds = Math.max(0, Math.ceil((until - useNow()) / 1_000));
  return (
    <span aria-hidden="true">
      {seconds === 0 ? 'Now.' : `In ${seconds < 60 ? `${seconds} s` : duration(seconds * 1_000)}.`}
    </span>
  );
}
