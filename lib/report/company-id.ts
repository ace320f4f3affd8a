/** Whether a text is the id of a company: a signed 64-bit integer in decimal digits, as the tables hold it. */
export const isCompanyId = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
