import { computed, signal } from '@preact/signals';
import { serviceAddress } from '../service-address.ts';
import { newestDay } from '../state.ts';
import type { Caller } from './caller-token.ts';

/** A sample partner of this machine. The user can ask for reports as this partner. */
export interface SamplePartner {
  readonly clientId: string;
  readonly sees: string;
}

/** The sample partners that the service offers. If there are none, the user pastes a token. */
export const samplePartners = signal<readonly SamplePartner[]>([]);
/** The client id of the sample partner who asks; empty if none is chosen. */
export const chosenPartner = signal('');
/** The token as the user pasted it. It stays in memory and goes only to the service. */
export const pastedToken = signal('');

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
  if (!isCallerKnown.value) chosenPartner.value = partners[0]?.clientId ?? '';
  return partners.length > 0;
}

/** The caller who is chosen now. */
export function chosenCaller(): Caller {
  const partner = chosenPartner.value;
  const pasted = pastedToken.value.trim().replace(/^Bearer\s+/i, '');
  return {
    key: JSON.stringify([partner, pasted]),
    token: async () => (partner === '' ? pasted : tokenOf(partner)),
  };
}

async function tokenOf(partner: string): Promise<string> {
  const response = await fetch(`${PARTNERS_URL}/${partner}/token`, { method: 'POST' });
  if (!response.ok) throw new Error(`The request for a token was answered ${response.status}.`);
  return (await response.json()).accessToken;
}
