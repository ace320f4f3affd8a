import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { hash } from '../address.ts';
import { chosenCaller } from '../question/caller.ts';
import type { AskedRequest } from '../question/request.ts';
import { isOfThisRequest, run } from '../run.ts';
import { serviceAddress, serviceFacts } from '../service-facts.ts';
import { choice, days, parameters, report } from '../state.ts';
import { snippets } from './snippets.ts';

const shown = signal(0);
/** Whether the request of the days before is shown, in a comparison. */
const isBeforeShown = signal(false);
/** The text that the user last tried to copy, and whether that worked. */
const latestCopy = signal({ text: '', isDone: true });

/**
 * Shows the API request for the current choice, in every form that people paste. Once there is an answer, these are the
 * requests of the answer: its files are the same, byte by byte.
 */
export function RequestView() {
  const tabs = useRef<HTMLDivElement>(null);
  const snippet = snippets[shown.value] ?? snippets[0];
  if (!snippet) return null;
  const access = serviceFacts.value;
  const { requests, isKnown } = requestsNow();
  const asked = (isBeforeShown.value && requests[1]) || requests[0];
  const client = chosenCaller().id;
  const text = snippet.text({
    service: serviceAddress,
    report: report.value,
    parameters: asked.parameters,
    access,
  });
  const link = linkNow();
  const { text: copied, isDone } = latestCopy.value;
  const isTextCopied = isDone && copied === text;
  const isLinkCopied = isDone && copied === link;
  const failure = [
    copied === text && 'Could not be copied: select the text and copy it.',
    copied === link && 'Could not be copied: copy the address of this page.',
  ].find((words) => words && !isDone);
  const show = (index: number) => {
    shown.value = (index + snippets.length) % snippets.length;
    tabs.current?.querySelectorAll('button')[shown.value]?.focus();
  };
  return (
    <section class="request" aria-labelledby="request-title">
      <div class="request-head">
        <h2 id="request-title">The same as a request</h2>
        <div>
          <button type="button" class="pill" onClick={() => copy(text)}>
            {isTextCopied ? 'Copied' : 'Copy'}
          </button>{' '}
          <button type="button" class="pill" onClick={() => copy(link)}>
            {isLinkCopied ? 'Link copied' : 'Copy link'}
          </button>
        </div>
      </div>
      {requests.length > 1 && (
        <fieldset class="segments">
          <legend class="visually-hidden">Which of both requests</legend>
          {requests.map(({ days: { first, last } }, index) => (
            <label key={index} class="segment">
              <input
                type="radio"
                name="side"
                checked={requests[index] === asked}
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
      <p class={failure ? 'faults' : 'visually-hidden'} role="status">
        {failure || (isTextCopied ? 'Copied' : isLinkCopied ? 'Link copied' : '')}
      </p>
    </section>
  );
}

/** The requests to show: those of the newest run, if it is of the present question, else the one of the question. */
function requestsNow(): {
  readonly requests: readonly [AskedRequest, ...AskedRequest[]];
  readonly isKnown: boolean;
} {
  const [own, ...others] = run.value && isOfThisRequest(run.value) ? run.value.requests : [];
  if (own) return { requests: [own, ...others], isKnown: true };
  const ofChoice = { days: days.value, parameters: parameters.value };
  return { requests: [ofChoice], isKnown: choice.value.compare === 'none' };
}

/** The address of this page with the question, the look at the answer and the client, but never with a token. */
function linkNow(): string {
  const link = new URL(location.href);
  link.search = '';
  link.hash = hash.value;
  return link.href;
}

async function copy(text: string): Promise<void> {
  const isDone = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  latestCopy.value = { text, isDone };
}
