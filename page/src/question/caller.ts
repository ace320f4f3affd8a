import { computed, signal } from '@preact/signals';
import { serviceAddress } from '../service-address.ts';
import { newestDay } from '../state.ts';
import type { Caller } from './caller-token.ts';

/** A partner that this machine offers to ask as. */
export interface SamplePartner {
  readonly clientId: string;
  readonly sees: string;
}

/** Empty where the service offers none: then a token is pasted. */
export const samplePartners = signal<readonly SamplePartner[]>([]);
/** The sample partner who asks, by client id. */
export const chosenPartner = signal('');
/** As it was pasted; it stays here, in memory, and goes to the service alone. */
export const pastedToken = signal('');

export const isCallerKnown = computed(() => chosenPartner.value !== '' || pastedToken.value.trim() !== '');

const PARTNERS_URL = `${serviceAddress}.local/partners`;

/**
 * Asks whether there are sample partners, and chooses the first. Only a service on one machine has them; elsewhere the
 * answer is 404. Resolves to whether there are.
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

/** Who is chosen now. */
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
