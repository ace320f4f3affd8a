/** The only place that writes values and names into SQL text, in the dialect that Trino and DuckDB share. */

/** A name as a quoted SQL identifier: `"PlacementId"`. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const quoteInteger = (integer: bigint): string => integer.toString();

/** A text as a string literal: `'O''Brien'`. Only the quote has a special meaning in it. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** An instant (milliseconds since 1970, whole seconds) as a UTC timestamp literal. */
export const quoteTime = (time: number): string =>
  `TIMESTAMP '${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}'`;
