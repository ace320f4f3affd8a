import { focusOn } from '../focus.ts';
import { duration } from '../format.ts';
import { chosenPartner } from '../question/caller.ts';
import { callerInputs } from '../question/caller-step.tsx';
import { faultWords } from '../question/fault-words.ts';
import { askForReport } from '../question/run-bar.tsx';
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
        </p>
      )}
      {run.retryAt !== undefined && (
        <p>
          {retryWords(retries, isAgain)} <Countdown until={run.retryAt} />
        </p>
      )}
      <button
        type="button"
        class="pill"
        onClick={() => {
          if (isRunAgain) return askForReport();
          isBuilderOpen.value = true;
          const inputs = cure === 'another token' ? callerInputs() : ['.run-bar button'];
          focusOn('.builder [aria-invalid="true"]', ...inputs);
        }}
      >
        {isRunAgain ? 'Run it again' : 'Change the question'}
      </button>{' '}
      {isAgain && (
        <button
          type="button"
          class="pill"
          onClick={() => {
            cancelRun();
            focusOn('#result-title', '.question button');
          }}
        >
          Don’t ask again
        </button>
      )}
    </div>
  );
}

/** Counts the seconds down. Screen readers do not read them: they would read every second aloud. */
function Countdown({ until }: { readonly until: number }) {
  const seconds = Math.max(0, Math.ceil((until - useNow()) / 1_000));
  return (
    <span aria-hidden="true">
      {seconds === 0 ? 'Now.' : `In ${seconds < 60 ? `${seconds} s` : duration(seconds * 1_000)}.`}
    </span>
  );
}
