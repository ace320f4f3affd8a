import { focusOn } from '../buttons.tsx';
import { counted } from '../format.ts';
import { cancelRun, isUnderWay, startRun } from '../run.ts';
import { answeredFaults, faults, isAsked, isBuilderOpen } from '../state.ts';
import { isCallerKnown, samplePartners } from './caller.ts';
import { callerInputs } from './caller-step.tsx';

/** The button that runs the report or cancels it, and a hint if something is missing. */
export function RunBar() {
  const count = faults.value.length;
  const cure = callerCure();
  return (
    <div class="run-bar">
      <button type="button" class="primary" onClick={isUnderWay() ? cancelRun : askForReport}>
        {isUnderWay() ? 'Cancel' : 'Run the report'}
      </button>
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

/** Says what the user must do before asking for the report; undefined if it is known who asks. */
function callerCure(): string | undefined {
  if (isCallerKnown.value) return undefined;
  return samplePartners.value.length > 0
    ? 'First choose a partner under “Ask as”.'
    : 'First paste a token under “Access token”.';
}

/** Asks for the report. If that is not possible, moves the focus to the input that must change. */
export function askForReport(): void {
  isAsked.value = true;
  // Earlier faults from the service do not block a new request, because the service may answer differently now.
  answeredFaults.value = [];
  const isAskable = faults.value.length === 0 && isCallerKnown.value;
  isBuilderOpen.value = !isAskable;
  if (faults.value.length > 0) leadToFault();
  else if (!isAskable) focusOn(...callerInputs());
  else {
    void startRun();
    // The form closes, and this button disappears with it. The focus moves to the answer.
    focusOn('#result-title');
  }
}

function leadToFault(): void {
  // Waits until the page has drawn the faults.
  requestAnimationFrame(() => {
    const fault = document.querySelector('.builder .step .faults');
    const input = document.querySelector<HTMLElement>('.builder [aria-invalid="true"]');
    (input ?? fault?.closest('.step')?.querySelector<HTMLElement>('input, button'))?.focus();
    fault?.scrollIntoView({ block: 'center' });
  });
}
