/** The companies whose rows a caller may see: every company, or one or more. A list is never empty. */
export type Entitlement = 'every-company' | Companies;

type Companies = readonly [bigint, ...bigint[]];

/** The entitlement to these companies, each once and in their order; undefined where there is none. */
export function entitlementTo(ids: readonly bigint[]): Entitlement | undefined {
  const [first, ...others] = [...new Set(ids)].sort((one, other) => (one < other ? -1 : 1));
  return first === undefined ? undefined : [first, ...others];
}

/** An entitlement as JSON holds it, which has no integers of 64 bits. */
export const storedEntitlement = (entitlement: Entitlement): 'every-company' | string[] =>
  entitlement === 'every-company' ? entitlement : entitlement.map(String);

/** Whether a text is the id of a company: a signed 64-bit integer in decimal digits, as the tables hold it. */
export const isCompanyId = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
