import { createHash } from 'node:crypto';
import { REGISTER_PREFIX } from '../names.ts';
import type { PartnerRecord } from './partner-record.ts';

/** The register of partners, with the calls that the functions need. */
export interface Register {
  /** Resolves to undefined if the client is unknown or its record can't be read. */
  find(client: string): Promise<PartnerRecord | undefined>;
}

/** How long a function caches a record. A removed partner keeps its access for at most this time. */
export const RECORD_KEPT_MS = 60_000;

/** Key of a client's record. Only somebody who knows the client's id can find it. */
export const partnerKey = (client: string): string =>
  `${REGISTER_PREFIX.partners}${createHash('sha256').update(client).digest('hex')}.json`;
