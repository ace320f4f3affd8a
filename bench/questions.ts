import { BASE_PATH } from '../lib/names.ts';
import type { Report } from '../lib/report/catalogue.ts';
import { compileQuery } from '../lib/report/compile-query.ts';
import { parseRequest } from '../lib/report/parse-request.ts';
import { formatUtcTime } from '../lib/report/utc-time.ts';

const DAY_MS = 86_400_000;

/** What a caller asks: fields of a report and so many days from one on, `2026-01-31`. */
export interface Question {
  readonly report: Report;
  readonly fields: readonly string[];
  readonly firstDay: string;
  readonly days: number;
}

const parametersOf = ({ fields, firstDay, days }: Question) => {
  const start = Date.parse(firstDay);
  return {
    requestedFields: fields.join(','),
    startInclusive: formatUtcTime(start),
    endExclusive: formatUtcTime(start + days * DAY_MS),
    'api-version': '1.0',
  };
};

export const pathOf = (question: Question): string =>
  `${BASE_PATH}/${question.report.name}?${new URLSearchParams(parametersOf(question))}`;

/** The SQL that the service runs for a caller who may see every row. */
export function sqlOf(question: Question): string {
  const parameters = Object.entries(parametersOf(question)).map(([name, value]) => [name, [value]]);
  const request = parseRequest(question.report, {
    parameters: Object.fromEntries(parameters),
    accept: undefined,
  });
  return compileQuery(request, 'every-company').sql;
}

/** Every order of the columns: as much work, and a report of its own each, so that none is answered from a copy. */
export const ordersOf = (names: readonly string[]): string[][] =>
  names.length < 2
    ? [[...names]]
    : names.flatMap((name) =>
        ordersOf(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
      );
