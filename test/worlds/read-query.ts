import type { CompiledQuery } from '../../lib/report/compile-query.ts';
import { daysBetween } from '../../lib/report/utc-time.ts';

/** Above 2^53, where a number in JSON or JavaScript is another company. */
const FIRST_ID = 9_007_199_254_740_993n;
export const idOf = (company: number): string => String(FIRST_ID + BigInt(company));
const companyOf = (id: string): number => Number(BigInt(id) - FIRST_ID);

/** The days and the companies that a query asks for. */
export interface ReadQuery {
  readonly days: readonly string[];
  /** Undefined if the query asks for every company. */
  readonly companies: readonly number[] | undefined;
}

const SHAPE = RegExp(
  [
    `^SELECT "Day" \\|\\| 'T00:00:00Z' AS "Day", "Clicks"`,
    'FROM \\(SELECT day AS "Day", CAST\\(coalesce\\(sum\\(clicks\\), 0\\) AS bigint\\) AS "Clicks"',
    'FROM publisher_events',
    "WHERE day BETWEEN '(\\d{4}-\\d\\d-\\d\\d)' AND '(\\d{4}-\\d\\d-\\d\\d)'(?: AND publisher_company_id IN \\(([\\d, ]+)\\))?",
    'GROUP BY day',
    '\\) AS report',
    'ORDER BY "Day" NULLS LAST$',
  ].join('\n'),
);

const known = new Map<string, ReadQuery>();

/** Reads the days and the companies of a query. Throws if it is not the one kind of query that the worlds use. */
export function readQuery({ sql, parameters }: CompiledQuery): ReadQuery {
  const found = known.get(sql);
  if (found) return found;
  const [, first, last, companies] = SHAPE.exec(sql) ?? [];
  if (!first || !last || parameters.length > 0) throw new Error(`an unplanned query: ${sql}`);
  const read = { days: daysBetween(first, last), companies: companies?.split(', ').map(companyOf) };
  known.set(sql, read);
  return read;
}
