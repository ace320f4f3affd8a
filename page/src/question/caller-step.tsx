import { run } from '../run.ts';
import { serviceFacts } from '../service-facts.ts';
import { isAsked } from '../state.ts';
import { chosenPartner, isCallerKnown, linkedClient, pastedToken, samplePartners } from './caller.ts';

/** The inputs that choose who asks: a sample partner of this machine, or the owner of a pasted token. */
export function CallerStep() {
  const hasPartners = samplePartners.value.length > 0;
  return (
    <fieldset class="step">
      <legend>{hasPartners ? 'Ask as' : 'Access token'}</legend>
      {hasPartners && (
        <div class="partners">
          {samplePartners.value.map(({ clientId, sees }) => (
            <label key={clientId} class="field">
              <input
                type="radio"
                name="partner"
                checked={chosenPartner.value === clientId}
                onChange={() => {
                  chosenPartner.value = clientId;
                  pastedToken.value = '';
                  linkedClient.value = '';
                }}
              />
              <span class="field-name">{clientId}</span>
              <span class="hint">sees {sees}</span>
            </label>
          ))}
        </div>
      )}
      {hasPartners ? (
        <details>
          <summary>Use a token of your own</summary>
          <TokenInput />
        </details>
      ) : (
        <TokenInput />
      )}
      <CallerFault />
    </fieldset>
  );
}

/** The selectors of the inputs that choose who asks: the input in use or, if no input is in use, all of them. */
export function callerInputs(): readonly string[] {
  if (chosenPartner.value !== '') return ['input[name="partner"]:checked'];
  return isCallerKnown.value ? ['#token'] : ['input[name="partner"]', '#token'];
}

function TokenInput() {
  return (
    <div class="token">
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        placeholder="eyJ…"
        aria-label="Access token"
        aria-describedby="token-hint"
        value={pastedToken.value}
        onInput={({ currentTarget }) => {
          pastedToken.value = currentTarget.value;
          if (currentTarget.value !== '') chosenPartner.value = '';
        }}
      />
      <p class="hint" id="token-hint">
        Stays in this page's memory and goes nowhere but to this service. {whereFrom()}
      </p>
    </div>
  );
}

/** Says where a token comes from, if the operator has configured that. */
function whereFrom(): string {
  const { tokenEndpoint, contact } = serviceFacts.value;
  const from = tokenEndpoint === undefined ? '' : `Tokens come from ${tokenEndpoint}.`;
  return [from, contact === undefined ? '' : `Ask ${contact} for access.`].join(' ').trim();
}

function CallerFault() {
  const problem =
    run.value?.phase === 'failed' && run.value.problem?.status === 401 ? run.value.problem : undefined;
  const isMissing = isAsked.value && !isCallerKnown.value;
  if (!problem && !isMissing) return null;
  return (
    <p class="faults" role="alert">
      {isMissing
        ? samplePartners.value.length > 0
          ? 'Choose who asks.'
          : 'Paste an access token.'
        : problem?.detail}
    </p>
  );
}
