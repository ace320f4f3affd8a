import { createHash } from 'node:crypto';
import { REGISTER_PREFIX } from '../names.ts';
import type { PartnerRecord } from './partner-record.ts';

/** The register of partners, as far as the functions need it. */
export interface Register {
  /** Undefined where the client is unknown, or its record can't be read. */
  find(client: string): Promise<PartnerRecord | undefined>;
}

/** For how long a function keeps a record that it has read. For at most so long, it lets in a partner that was removed. */
export const RECORD_KEPT_MS = 60_000;

/** Where a client's record lies: only somebody who knows the client's id can find it. */
export const partnerKey = (client: string): string =>
  `${REGISTER_PREFIX.partners}${createHash('sha256').update(client).digest('hex')}.json`;
