import { effect } from '@preact/signals';
import { render } from 'preact';
import { FIELDS_PATH, OPENAPI_PATH } from '../../lib/routes.ts';
import './address.ts';
import { RequestView } from './answer/request-view.tsx';
import { ResultView } from './answer/result-view.tsx';
import { focusOn } from './buttons.tsx';
import { chosenPartner, findSamplePartners, isCallerKnown, pastedToken } from './question/caller.ts';
import { CallerStep } from './question/caller-step.tsx';
import { askDays } from './question/day-states.ts';
import { FieldsStep } from './question/fields-step.tsx';
import { FiltersStep } from './question/filters-step.tsx';
import { QuestionLine } from './question/question-line.tsx';
import { shortTitle } from './question/question-words.ts';
import { ReportStep } from './question/report-step.tsx';
import { RunBar } from './question/run-bar.tsx';
import { CompareStep, WindowStep } from './question/window-step.tsx';
import { run, startRun } from './run.ts';
import { readServiceFacts, serviceAddress } from './service-facts.ts';
import { faults, isBuilderOpen, report } from './state.ts';

const PAGE = 'Performance reports';
const STATES = {
  waiting: 'Waiting',
  reading: 'Reading',
  done: 'Ready',
  'too-large': 'Ready',
  failed: 'No report',
};

/** Shows the state of the run in the window's title, because people wait in another tab. */
function tellTitle(): void {
  const now = run.value;
  document.title = now ? `${STATES[now.phase]}: ${shortTitle(now.title)} – ${PAGE}` : PAGE;
}

/**
 * A user may type a token letter by letter. The page waits until the token has not changed for this long. Then it asks
 * for the states of the days.
 */
const TOKEN_SETTLED_MS = 400;

/** The page: the question in a line, the answer below it, and the API request for the same report. */
function Page() {
  return (
    <>
      {/* These are buttons, because a link to an anchor would replace the choice in the page's address. */}
      <nav class="skips" aria-label="Skip to">
        <Skip to="#builder">Skip to the question</Skip>
        <Skip to=".run-bar button">Skip to Run</Skip>
        {run.value && <Skip to="#result-title">Skip to the result</Skip>}
      </nav>
      <header>
        <h1>Performance reports</h1>
        <nav aria-label="The service">
          <a href={`${serviceAddress}docs`}>Documents</a>
          <a href={`${serviceAddress}${OPENAPI_PATH.slice(1)}`}>OpenAPI</a>
          <a href={`${serviceAddress}${FIELDS_PATH.slice(1)}`}>Fields as JSON</a>
        </nav>
      </header>
      <main>
        <QuestionLine />
        <div class="builder" id="builder" tabIndex={-1} hidden={!isBuilderOpen.value}>
          <div class="column">
            <ReportStep />
            <WindowStep />
            <FiltersStep />
          </div>
          <div class="column">
            <FieldsStep />
            <CompareStep />
            <CallerStep />
          </div>
          <RunBar />
        </div>
        <ResultView />
        <RequestView />
      </main>
    </>
  );
}

function Skip({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <button
      type="button"
      class="skip"
      onClick={() => {
        if (to !== '#result-title') isBuilderOpen.value = true;
        focusOn(to);
      }}
    >
      {children}
    </button>
  );
}

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const { name } = report.value;
  const isTyped = pastedToken.value !== '';
  clearTimeout(timer);
  if (chosenPartner.value !== '' || isCallerKnown.value)
    timer = setTimeout(() => void askDays(name), isTyped ? TOKEN_SETTLED_MS : 0);
});
effect(tellTitle);
void readServiceFacts();
// On one machine, the page asks the first question at once. Elsewhere the question may start a query, which costs
// money, so the user decides.
void findSamplePartners().then((areThere) => {
  if (areThere && faults.value.length === 0) void startRun();
  else isBuilderOpen.value = true;
});
const pageRoot = document.getElementById('page');
if (pageRoot) render(<Page />, pageRoot);
