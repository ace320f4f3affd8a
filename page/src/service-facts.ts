import { signal } from '@preact/signals';
import { pathOf } from '../../lib/routes.ts';
import { serviceAddress } from './service-address.ts';

/** What the service says of itself in `GET /reporting/fields`, where the operator has said it. */
interface ServiceFacts {
  /** Of all amounts (ISO 4217); empty where it is not known. */
  readonly currency: string;
  /** Where access tokens come from. */
  readonly tokenEndpoint?: string;
  /** Whom to ask: an e-mail address, or a URL. */
  readonly contact?: string;
  /** A report that takes longer is given up. */
  readonly longestReportSeconds?: number;
}

export const serviceFacts = signal<ServiceFacts>({ currency: '' });

/** Asks the service. If that fails, the page says less, and works. */
export async function readServiceFacts(): Promise<void> {
  const response = await fetch(`${serviceAddress}${pathOf('fields').slice(1)}`).catch(() => undefined);
  if (!response?.ok) return;
  const { currency = '', access = {}, limits = {} } = await response.json();
  serviceFacts.value = { currency, ...access, longestReportSeconds: limits.longestReportSeconds };
}
