/** The page's address: after `#` it has the question, how the answer is looked at, and which client asked. */
import { computed, effect } from '@preact/signals';
import { lookFromHash, lookParameters } from './answer/look.ts';
import { chosenCaller, isCallerKnown, linkedClient } from './question/caller.ts';
import { fromHash, toHash } from './question/choice.ts';
import { lookOtherwise } from './run.ts';
import { choice, choose, look } from './state.ts';

const clientIn = (hash: string): string => new URLSearchParams(hash.replace(/^#/, '')).get('client') ?? '';

linkedClient.value = clientIn(location.hash);

/** The part of the address after `#`. It never has a token. Browsers never send this part to a server. */
export const hash = computed(() => {
  const client = isCallerKnown.value ? chosenCaller().id : linkedClient.value;
  const parts = [...lookParameters(look.value), ...(client === '' ? [] : [['client', client]])];
  const rest = parts.map(([name = '', value = '']) => `&${name}=${encodeURIComponent(value)}`).join('');
  return `#${toHash(choice.value)}${rest}`;
});

/** The client that the address was made as, if another client asks now. */
export const otherClient = computed(() => {
  const { value: linked } = linkedClient;
  return isCallerKnown.value && linked !== '' && linked !== chosenCaller().id ? linked : undefined;
});

// The address can be bookmarked and sent. Going back in the history changes the choice.
effect(() => {
  if (hash.value !== location.hash) history.replaceState(null, '', hash.value);
});
addEventListener('hashchange', () => {
  // The effect above changes the address as soon as the choice changes.
  const { hash: linked } = location;
  if (linked === hash.value) return;
  choose(fromHash(linked));
  lookOtherwise(lookFromHash(linked));
  linkedClient.value = clientIn(linked);
});
