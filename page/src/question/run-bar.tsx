import { focusOn } from '../focus.ts';
import { counted } from '../format.ts';
import { cancelRun, isUnderWay, startRun } from '../run.ts';
import { answeredFaults, faults, isAsked, isBuilderOpen } from '../state.ts';
import { isCallerKnown, samplePartners } from './caller.ts';
import { callerInputs } from './caller-step.tsx';

/** Runs the report, or says what stands in the way and leads there. */
export function RunBar() {
  const count = faults.value.length;
  const cure = callerCure();
  return (
    <div class="run-bar">
      {isUnderWay() ? (
        <button type="button" class="primary" onClick={cancelRun}>
          Cancel
        </button>
      ) : (
        <button type="button" class="primary" onClick={askForReport}>
          Run the report
        </button>
      )}
      {isAsked.value && count > 0 && (
        <p class="faults" role="alert">
          The request has{' '}
          {count === 1 ? 'a fault, told where it is' : `${counted(count, 'fault')}, told where they are`}.
        </p>
      )}
      {cure && (
        <p class="hint" role="status">
          {cure}
        </p>
      )}
    </div>
  );
}

/** What to do before the report can be asked for, in a sentence; undefined where it is known who asks. */
function callerCure(): string | undefined {
  if (isCallerKnown.value) return undefined;
  return samplePartners.value.length > 0
    ? 'First choose a partner under “Ask as”.'
    : 'First paste a token under “Access token”.';
}

/** Asks for the report, or leads to what stands in the way. */
export function askForReport(): void {
  isAsked.value = true;
  // Faults that the service answered do not block another request: it may answer otherwise now.
  answeredFaults.value = [];
  const isAskable = faults.value.length === 0 && isCallerKnown.value;
  isBuilderOpen.value = !isAskable;
  if (faults.value.length > 0) leadToFault();
  else if (!isAskable) focusOn(...callerInputs());
  else {
    void startRun();
    // The form closes, and this button with it. The focus moves to the answer.
    focusOn('#result-title');
  }
}

function leadToFault(): void {
  // After the faults have been drawn.
  requestAnimationFrame(() => {
    const fault = document.querySelector('.builder .step .faults');
    const input = document.querySelector<HTMLElement>('.builder [aria-invalid="true"]');
    (input ?? fault?.closest('.step')?.querySelector<HTMLElement>('input, button'))?.focus();
    fault?.scrollIntoView({ block: 'center' });
  });
}
