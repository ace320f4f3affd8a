import { computed, signal } from '@preact/signals';
import { serviceAddress } from '../service-address.ts';
import { newestDay } from '../state.ts';

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

/** The token to ask with: the pasted one, or one of the chosen sample partner's. Rejects where there is none. */
export async function accessToken(): Promise<string> {
  if (chosenPartner.value === '') return pastedToken.value.trim().replace(/^Bearer\s+/i, '');
  const response = await fetch(`${PARTNERS_URL}/${chosenPartner.value}/token`, { method: 'POST' });
  if (!response.ok) throw new Error(`The request for a token was answered ${response.status}.`);
  return (await response.json()).accessToken;
}
