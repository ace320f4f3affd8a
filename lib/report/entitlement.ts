/** The companies whose rows a caller may see: every company, or one or more. A list is never empty. */
export type Entitlement = 'every-company' | readonly [bigint, ...bigint[]];

/** The entitlement to these companies, each once and in ascending order; undefined if the list is empty. */
export function entitlementTo(ids: readonly bigint[]): Entitlement | undefined {
  const [first, ...others] = [...new Set(ids)].sort((one, other) => (one < other ? -1 : 1));
  return first === undefined ? undefined : [first, ...others];
}

/** An entitlement in a form for JSON, which has no 64-bit integers. */
export const storedEntitlement = (entitlement: Entitlement): 'every-company' | string[] =>
  entitlement === 'every-company' ? entitlement : entitlement.map(String);

/** Athena takes SQL of at most this many characters. */
export const LONGEST_SQL = 262_144;
/** The most characters of companies in SQL, which may name them twice and has less than 22,144 others. */
export const LONGEST_COMPANIES = 120_000;

/** Whether every query can name these companies. A client with more gets `TooManyCompanies` for some or all reports. */
export const fitIntoQuery = (ids: readonly string[]): boolean => ids.join(', ').length <= LONGEST_COMPANIES;

/** Whether a text is the id of a company: a signed 64-bit integer in decimal digits, as in the tables. */
export const isCompanyId = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
