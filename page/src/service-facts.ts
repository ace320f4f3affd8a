import { signal } from '@preact/signals';
import { FIELDS_PATH } from '../../lib/routes.ts';

/**
 * The service's address, with a slash at its end. It is the folder above this script's folder, whatever the stage or
 * base path.
 */
export const serviceAddress = new URL('..', import.meta.url).href;

/** The address of a file beside this script. */
export const besideThis = (name: string): URL => {
  const url = new URL(name, import.meta.url);
  // Gives the file's address the same version as this script's address.
  url.search = new URL(import.meta.url).search;
  return url;
};

/**
 * The facts that the service reports in `GET /reporting/fields`. The currency, the token endpoint and the contact are
 * known only if the operator has configured them.
 */
interface ServiceFacts {
  /** The currency of all amounts (ISO 4217); empty if it is not known. */
  readonly currency: string;
  /** The address that issues access tokens. */
  readonly tokenEndpoint?: string;
  /** The contact for questions: an e-mail address or a URL. */
  readonly contact?: string;
  /** The longest time that making a report may take. After that time, the service gives the report up. */
  readonly longestReportSeconds?: number;
  /** How many hours after its end a day is promised to be final. */
  readonly finalAfterHours?: number;
}

export const serviceFacts = signal<ServiceFacts>({ currency: '' });

/** Asks the service for its facts. If that fails, the page still works, but shows less. */
export async function readServiceFacts(): Promise<void> {
  const response = await fetch(`${serviceAddress}${FIELDS_PATH.slice(1)}`).catch(() => undefined);
  if (!response?.ok) return;
  const { currency = '', access = {}, limits = {}, finalAfterHours } = await response.json();
  serviceFacts.value = {
    currency,
    ...access,
    longestReportSeconds: limits.longestReportSeconds,
    finalAfterHours,
  };
}
