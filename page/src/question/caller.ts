import { computed, signal } from '@preact/signals';
import { callerOf } from '../../../lib/access/claims.ts';
import { serviceAddress } from '../service-facts.ts';
import { newestDay } from '../state.ts';
import type { Caller } from './choice.ts';

/** A sample partner of this machine. The user can ask for reports as this partner. */
interface SamplePartner {
  readonly clientId: string;
  readonly sees: string;
}

/** The sample partners that the service offers. If there are none, the user pastes a token. */
export const samplePartners = signal<readonly SamplePartner[]>([]);
/** The client id of the sample partner who asks; empty if none is chosen. */
export const chosenPartner = signal('');
/** The token as the user pasted it. It stays in memory and goes only to the service. */
export const pastedToken = signal('');

/** The client that asked when the page's address was made, from that address; empty if the address does not tell. */
export const linkedClient = signal('');

export const isCallerKnown = computed(() => chosenPartner.value !== '' || pastedToken.value.trim() !== '');

const PARTNERS_URL = `${serviceAddress}.local/partners`;

/**
 * Asks the service for its sample partners, and chooses the first. Only a service on one machine has sample partners;
 * elsewhere the answer is 404. Resolves to true if there are any.
 */
export async function findSamplePartners(): Promise<boolean> {
  const response = await fetch(PARTNERS_URL).catch(() => undefined);
  if (!response?.ok) return false;
  const { partners, lastDay } = await response.json();
  samplePartners.value = partners;
  newestDay.value = lastDay;
  const first: SamplePartner | undefined =
    samplePartners.value.find(({ clientId }) => clientId === linkedClient.value) ?? partners[0];
  if (!isCallerKnown.value) chosenPartner.value = first?.clientId ?? '';
  return partners.length > 0;
}

/** The caller who is chosen now. */
export function chosenCaller(): Caller {
  const partner = chosenPartner.value;
  const pasted = pastedToken.value.trim().replace(/^Bearer\s+/i, '');
  return {
    key: JSON.stringify([partner, pasted]),
    id: partner || clientIn(pasted),
    token: async () => (partner === '' ? pasted : tokenOf(partner)),
  };
}

/** The client that a token names. The page does not check the token: the service does. */
function clientIn(token: string): string {
  try {
    const payload = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'));
    return callerOf(
      JSON.parse(new TextDecoder().decode(Uint8Array.from(payload, (one) => one.charCodeAt(0)))),
    );
  } catch {
    return '';
  }
}

async function tokenOf(partner: string): Promise<string> {
  const response = await fetch(`${PARTNERS_URL}/${partner}/token`, { method: 'POST' });
  if (!response.ok) throw new Error(`The request for a token was answered ${response.status}.`);
  return (await response.json()).accessToken;
}
