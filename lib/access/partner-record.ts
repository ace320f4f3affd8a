import * as v from 'valibot';
import { byOwner, type Report } from '../report/catalogue.ts';
import { type Entitlement, entitlementTo, isCompanyId } from '../report/entitlement.ts';

/** Stands for every company: a word, which no id can be. */
export const EVERY_COMPANY = 'every-company';

/** Ids in decimal digits: JSON has no integers of 64 bits. An empty list opens nothing. */
export const companies = v.union([
  v.literal(EVERY_COMPANY),
  v.array(v.pipe(v.string(), v.check(isCompanyId, 'is no company id'))),
]);

/** Letters, digits and single hyphens: a name stands in commands, in logs and in the names of Cognito's clients. */
export const PARTNER_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const LONGEST_NAME = 64;

export const partnerRecord = v.strictObject({
  /** Version of the format. A record of another version opens nothing: it may hold restrictions unknown here. */
  form: v.literal(1),
  /** As it stands in the tokens' `client_id`, `azp` or `appid`. */
  client: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256)),
  /** What people call the partner. */
  name: v.pipe(v.string(), v.regex(PARTNER_NAME), v.maxLength(LONGEST_NAME)),
  /** By owner, the companies whose rows it sees. A record from before there was an owner opens none of its rows. */
  ...byOwner(() => v.optional(companies, [])),
  /** Whom to write to. */
  contact: v.string(),
  /** When it was added, ISO 8601. */
  since: v.pipe(v.string(), v.isoTimestamp()),
  /** False takes every right away. */
  active: v.boolean(),
  /**
   * What a later release may note here: texts that decide nothing. Any other member may be a restriction, and one that is
   * unknown opens nothing. Nobody writes it yet, so that the release before the first that does can read it.
   */
  annotations: v.exactOptional(v.record(v.string(), v.string())),
});

/** Every company, or a list of ids. */
export type Companies = v.InferOutput<typeof companies>;

/** What the register holds of one client. */
export type PartnerRecord = v.InferOutput<typeof partnerRecord>;

/**
 * The record that a document holds. Undefined where it holds none of this version, or one of another client: what is
 * not understood opens nothing.
 */
export function readPartner(document: unknown, client: string): PartnerRecord | undefined {
  const result = v.safeParse(partnerRecord, document);
  return result.success && result.output.client === client ? result.output : undefined;
}

/** Whose rows of a report a record opens; undefined where it opens none of them. */
export function companiesOf(record: PartnerRecord, { governedBy }: Report): Entitlement | undefined {
  const opened = record[governedBy];
  return opened === EVERY_COMPANY ? opened : entitlementTo(opened.map(BigInt));
}
