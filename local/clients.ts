import * as v from 'valibot';
import {
  companies,
  EVERY_COMPANY,
  type PartnerRecord,
  parseDocument,
  partnerRecord,
} from '../lib/access/partner-record.ts';
import { byOwner, ownerNames } from '../lib/report/catalogue.ts';
import { fitIntoQuery, LONGEST_COMPANIES } from '../lib/report/entitlement.ts';
import { labelOf } from '../lib/terminal/owner-words.ts';

/** A partner of this machine, and the secret of its client. Without a secret, the stack draws one. */
export interface LocalPartner {
  readonly record: PartnerRecord;
  readonly secret?: string | undefined;
}

const { name, client, contact, since, active } = partnerRecord.entries;

const fittingCompanies = v.pipe(
  companies,
  v.check(
    (ids) => ids === EVERY_COMPANY || fitIntoQuery(ids),
    `more than a query can name: the ids, with ", " between, may have ${LONGEST_COMPANIES} characters`,
  ),
);

/** A partner in the file: a record of the register with most members optional, and the client's secret. */
const partnerOfFile = v.strictObject({
  form: v.optional(v.literal(1), 1),
  name,
  /** If left out, the client is the name. */
  client: v.optional(client),
  /** If left out, the secret is drawn at each start. */
  secret: v.optional(v.pipe(v.string(), v.nonEmpty())),
  ...byOwner(() => v.optional(fittingCompanies, [])),
  contact: v.optional(contact, ''),
  since: v.optional(since, '2026-01-01T00:00:00Z'),
  active: v.optional(active, true),
});

const partnerOf = ({ secret, client, ...facts }: v.InferOutput<typeof partnerOfFile>): LocalPartner => ({
  record: { ...facts, client: client ?? facts.name },
  secret,
});

/** The partners of a file: a JSON array of records. Throws an Error that names every fault. */
export function readPartners(text: string): readonly LocalPartner[] {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${(error as Error).message}`);
  }
  const document = parseDocument(text);
  if (document === undefined) throw new Error('an object has two members of the same name: give it once');
  const result = v.safeParse(v.pipe(v.array(partnerOfFile), v.minLength(1, 'names no partner')), document);
  if (!result.success) {
    const faults = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
    throw new Error(faults.join('; '));
  }
  const partners = result.output.map(partnerOf);
  for (const member of ['name', 'client'] as const) {
    const values = partners.map(({ record }) => record[member]);
    const twice = values.find((value, index) => values.indexOf(value) !== index);
    if (twice !== undefined) throw new Error(`two partners have the ${member} "${twice}"`);
  }
  return partners;
}

/** The rows that a partner sees, in words. */
export function describeRows({ record }: LocalPartner): string {
  const rows = ownerNames.flatMap((owner) => {
    const companies = record[owner];
    if (companies === EVERY_COMPANY) return [`all ${labelOf(owner)}`];
    return companies.length > 0 ? [`${labelOf(owner)} ${companies.join(', ')}`] : [];
  });
  return rows.length > 0 ? rows.join('; ') : 'nothing';
}

/**
 * The default partners if the sample events are served. Their companies are among the largest. The page and the printed
 * curl use the first one, which sees its own rows of both reports.
 */
export const PARTNERS_OF_SAMPLE_EVENTS: readonly LocalPartner[] = readPartners(
  JSON.stringify([
    { name: 'media-group', publisherCompanies: ['1001'], advertiserCompanies: ['2000'] },
    // Sees every row of every report, like the house's own staff.
    { name: 'house', ...byOwner(() => EVERY_COMPANY) },
    { name: 'publisher-one', publisherCompanies: ['1000'] },
    { name: 'publisher-two', publisherCompanies: ['1001', '1002'] },
    { name: 'advertiser', advertiserCompanies: ['2000'] },
    { name: 'nobody' },
  ]),
);

/** The default partners of other events. */
export const SAMPLE_PARTNERS = PARTNERS_OF_SAMPLE_EVENTS.slice(1);
