import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { REGISTER_PREFIX } from '../names.ts';
import { byOwner, type Report } from '../report/catalogue.ts';
import { type Entitlement, entitlementTo, isCompanyId } from '../report/entitlement.ts';

/** The word that means every company. A word can't be a company id. */
export const EVERY_COMPANY = 'every-company';

/** Company ids as decimal digits, because JSON has no 64-bit integers. An empty list gives access to nothing. */
export const companies = v.union([
  v.literal(EVERY_COMPANY),
  v.array(v.pipe(v.string(), v.check(isCompanyId, 'is no company id'))),
]);

/** Letters, digits and single hyphens, for commands, logs and the names of Cognito's clients. */
export const PARTNER_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const LONGEST_NAME = 64;

export const partnerRecord = v.strictObject({
  /** A record of another version gives no access: it may hold restrictions that this release doesn't know. */
  form: v.literal(1),
  /** The client's id as in the tokens' `client_id`, `azp` or `appid`. */
  client: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256)),
  name: v.pipe(v.string(), v.regex(PARTNER_NAME), v.maxLength(LONGEST_NAME)),
  /** The companies whose rows the client may see; none if the owner is newer than the record. */
  ...byOwner(() => v.optional(companies, [])),
  contact: v.string(),
  since: v.pipe(v.string(), v.isoTimestamp()),
  /** Whether the lists of companies give access. If false, the partner has no access. */
  active: v.boolean(),
  /**
   * Texts that a later release may write here, and that never affect access: a rollback to this release must read its
   * records. A record with any other unknown member gives no access, because that member may be a restriction.
   */
  annotations: v.exactOptional(v.record(v.string(), v.string())),
});

export type Companies = v.InferOutput<typeof companies>;
export type PartnerRecord = v.InferOutput<typeof partnerRecord>;

/** The record, or undefined, which gives no access, if it is malformed or of another version or client. */
export function readPartner(document: unknown, client: string): PartnerRecord | undefined {
  const result = v.safeParse(partnerRecord, document);
  return result.success && result.output.client === client ? result.output : undefined;
}

/** The rows of a report that a record gives access to; undefined if it gives access to no row. */
export function companiesOf(record: PartnerRecord, { governedBy }: Report): Entitlement | undefined {
  const ids = record[governedBy];
  return ids === EVERY_COMPANY ? ids : entitlementTo(ids.map(BigInt));
}

/**
 * The value of a document of the register. Undefined if the document is no JSON, or if an object in it has two members
 * of the same name: `JSON.parse` would silently use the last one, and another program the first one.
 */
export function parseDocument(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return memberCount(text) === memberCount(JSON.stringify(document)) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Each member has one colon outside strings. */
const memberCount = (json: string): number => json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;

export interface Register {
  /** Resolves to undefined if the client is unknown or its record can't be read. */
  find(client: string): Promise<PartnerRecord | undefined>;
}

/** Key of a client's record. Only somebody who knows the client's id can find it. */
export const partnerKey = (client: string): string =>
  `${REGISTER_PREFIX.partners}${createHash('sha256').update(client).digest('hex')}.json`;
