import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type Choice, toHash } from '../question/choice.ts';
import { serviceAddress } from '../service-address.ts';
import { serviceFacts } from '../service-facts.ts';
import { choice, parameters, report } from '../state.ts';
import { snippets } from './snippets.ts';

const shown = signal(0);
/** The text that the user last tried to copy, and whether that worked. */
const latestCopy = signal({ text: '', isDone: true });

/** Shows the API request for the current choice, in every form that people paste. */
export function RequestView() {
  const tabs = useRef<HTMLDivElement>(null);
  const snippet = snippets[shown.value] ?? snippets[0];
  if (!snippet) return null;
  const access = serviceFacts.value;
  const text = snippet.text({
    service: serviceAddress,
    report: report.value,
    parameters: parameters.value,
    access,
  });
  const link = linkTo(choice.value);
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
        <p class="hint">{snippet.note(access)}</p>
      </div>
      <p class={failure ? 'faults' : 'visually-hidden'} role="status">
        {failure || (isTextCopied ? 'Copied' : isLinkCopied ? 'Link copied' : '')}
      </p>
    </section>
  );
}

/** The address of this page with the question. It never has a token, because the choice does not contain one. */
function linkTo(chosen: Choice): string {
  const link = new URL(location.href);
  link.search = '';
  link.hash = toHash(chosen);
  return link.href;
}

async function copy(text: string): Promise<void> {
  const isDone = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  latestCopy.value = { text, isDone };
}
