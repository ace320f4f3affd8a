/** A row in Athena's CSV: everything quoted but NULL, quotes doubled, LF. Numbers arrive as text. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(csvValue).join(',')}\n`;

const csvValue = (value: unknown): string =>
  value === null ? '' : `"${String(value).replaceAll('"', '""')}"`;
