import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { hash } from '../address.ts';
import { Pill } from '../buttons.tsx';
import { chosenCaller } from '../question/caller.ts';
import { isOfThisRequest, run } from '../run.ts';
import { serviceAddress, serviceFacts } from '../service-facts.ts';
import { choice, days, parameters, report } from '../state.ts';
import { snippets } from './snippets.ts';

const shown = signal(0);
/** Whether the request of the days before is shown, in a comparison. */
const isBeforeShown = signal(false);
/** The text that the user last tried to copy, and what became of that. */
const latestCopy = signal({ text: '', words: '', isDone: true });

/**
 * Shows the API request for the current choice, in every form that people paste. Once there is an answer, these are the
 * requests of the answer: its files are the same, byte by byte.
 */
export function RequestView() {
  const tabs = useRef<HTMLDivElement>(null);
  const snippet = snippets[shown.value] ?? snippets[0];
  if (!snippet) return null;
  const access = serviceFacts.value;
  const { own, before, isKnown } = requestsNow();
  const asked = (isBeforeShown.value && before) || own;
  const client = chosenCaller().id;
  const text = snippet.text({
    service: serviceAddress,
    report: report.value,
    parameters: asked.parameters,
    access,
  });
  const link = linkNow();
  const latest = latestCopy.value;
  // What was copied is told while it is still what is shown.
  const copied = [text, link].includes(latest.text) ? latest : undefined;
  const isCopied = (what: string) => copied?.isDone && copied.text === what;
  const show = (index: number) => {
    shown.value = (index + snippets.length) % snippets.length;
    tabs.current?.querySelectorAll('button')[shown.value]?.focus();
  };
  return (
    <section class="request" aria-labelledby="request-title">
      <div class="request-head">
        <h2 id="request-title">The same as a request</h2>
        <div>
          <Pill onClick={() => copy(text, 'Copied', 'select the text and copy it')}>
            {isCopied(text) ? 'Copied' : 'Copy'}
          </Pill>{' '}
          <Pill onClick={() => copy(link, 'Link copied', 'copy the address of this page')}>
            {isCopied(link) ? 'Link copied' : 'Copy link'}
          </Pill>
        </div>
      </div>
      {before && (
        <fieldset class="segments">
          <legend class="visually-hidden">Which of both requests</legend>
          {[own, before].map(({ days: { first, last } }, index) => (
            <label key={index} class="segment">
              <input
                type="radio"
                name="side"
                checked={[own, before][index] === asked}
                onChange={() => {
                  isBeforeShown.value = index === 1;
                }}
              />
              <span>
                {index === 0 ? 'The days' : 'The days before'}: {first} to {last}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {!isKnown && (
        <p class="hint">
          A comparison sends two requests, and leaves out days that are open or without data: run it to see
          both.
        </p>
      )}
      <div
        class="tabs"
        role="tablist"
        aria-labelledby="request-title"
        ref={tabs}
        onKeyDown={({ key }) => {
          if (key === 'ArrowRight') show(shown.value + 1);
          if (key === 'ArrowLeft') show(shown.value - 1);
        }}
      >
        {snippets.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${index}`}
            aria-selected={index === shown.value}
            aria-controls="snippet"
            tabIndex={index === shown.value ? 0 : -1}
            onClick={() => show(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="snippet" aria-labelledby={`tab-${shown.value}`}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard */}
        <pre tabIndex={0}>
          <code>{text}</code>
        </pre>
        <p class="hint">
          {snippet.note(access)}
          {client !== '' && ` The page asks as ${client}: the token of another client may bring other rows.`}
        </p>
      </div>
      <p class={copied?.isDone === false ? 'faults' : 'visually-hidden'} role="status">
        {copied?.words}
      </p>
    </section>
  );
}

/** The requests to show: those of the newest run, if it is of the present question, else the one of the question. */
function requestsNow() {
  const ofChoice = { days: days.value, parameters: parameters.value };
  const ofRun = run.value && isOfThisRequest(run.value) ? run.value.requests : [];
  const isKnown = ofRun.length > 0 || choice.value.compare === 'none';
  return { own: ofRun[0] ?? ofChoice, before: ofRun[1], isKnown };
}

/** The address of this page with the question, the look at the answer and the client, but never with a token. */
function linkNow(): string {
  const link = new URL(location.href);
  link.search = '';
  link.hash = hash.value;
  return link.href;
}

const copy = (text: string, done: string, otherwise: string): Promise<void> =>
  navigator.clipboard.writeText(text).then(
    () => {
      latestCopy.value = { text, words: done, isDone: true };
    },
    () => {
      latestCopy.value = { text, words: `Could not be copied: ${otherwise}.`, isDone: false };
    },
  );
