/** The page: choose, see the request grow, run it, look at it, take it away. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { pathOf } from '../../lib/routes.ts';
import { chosenPartner, findSamplePartners, isCallerKnown, pastedToken } from './caller.ts';
import { CallerStep } from './caller-step.tsx';
import { askDays } from './day-states.ts';
import { FieldsStep } from './fields-step.tsx';
import { FiltersStep } from './filters-step.tsx';
import { ReportStep } from './report-step.tsx';
import { RequestView } from './request-view.tsx';
import { ResultView } from './result-view.tsx';
import { RunBar } from './run-bar.tsx';
import { serviceAddress } from './service-address.ts';
import { report } from './state.ts';
import { WindowStep } from './window-step.tsx';

/** A token may be typed letter by letter: days are asked for once it has not changed for so long. */
const TOKEN_SETTLED_MS = 400;

function Page() {
  return (
    <>
      {/* A button and no link: a link to an anchor would replace the choice, which stands in the address. */}
      <button type="button" class="skip" onClick={() => document.getElementById('builder')?.focus()}>
        Skip to the report
      </button>
      <header>
        <h1>Performance reports</h1>
        <nav aria-label="The service">
          <a href={`${serviceAddress}${pathOf('openapi').slice(1)}`}>OpenAPI</a>
          <a href={`${serviceAddress}reporting/fields`}>Fields as JSON</a>
        </nav>
      </header>
      <main>
        <div class="builder" id="builder" tabIndex={-1}>
          <ReportStep />
          <FieldsStep />
          <WindowStep />
          <FiltersStep />
        </div>
        <div class="side">
          <div class="builder">
            <CallerStep />
            <RunBar />
            <RequestView />
          </div>
        </div>
        <ResultView />
      </main>
    </>
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

void findSamplePartners();
const pageRoot = document.getElementById('page');
if (pageRoot) render(<Page />, pageRoot);
