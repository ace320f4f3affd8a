import { advertiserReport, publisherReport, type Report } from '../lib/report/catalogue.ts';
import { compileQuery } from '../lib/report/compile-query.ts';
import { parseRequest } from '../lib/report/parse-request.ts';
import { formatUtcTime, utcDay } from '../lib/report/utc-time.ts';
import { reportPath } from '../lib/routes.ts';
import { dice } from '../test/worlds/random.ts';

const DAY_MS = 86_400_000;

/** What a caller asks for: fields of a report for `days` days. The first day is `firstDay`, as in `2026-01-31`. */
export interface Question {
  readonly report: Report;
  readonly fields: readonly string[];
  readonly firstDay: string;
  readonly days: number;
  readonly filters?: Readonly<Record<string, string>>;
}

/** Every question of a month by these dimensions that requests four metrics in another order. All are equal work. */
export const monthsBy = (...dimensions: string[]): Question[] =>
  ordersOf(['ServedAds', 'Opens', 'Clicks', 'Revenue']).map((metrics) => ({
    report: publisherReport,
    fields: [...dimensions, ...metrics],
    firstDay: '2026-01-01',
    days: 31,
  }));

function parametersOf({ fields, firstDay, days, filters = {} }: Question): Record<string, string> {
  const start = Date.parse(firstDay);
  return {
    requestedFields: fields.join(','),
    startInclusive: formatUtcTime(start),
    endExclusive: formatUtcTime(start + days * DAY_MS),
    'api-version': '1.0',
    ...Object.fromEntries(Object.entries(filters).map(([field, value]) => [`filter[${field}]`, value])),
  };
}

/** The days of the window, each as in `2026-01-31`. */
export const daysOf = ({ firstDay, days }: Pick<Question, 'firstDay' | 'days'>): string[] =>
  Array.from({ length: days }, (_, index) => utcDay(Date.parse(firstDay) + index * DAY_MS));

export const pathOf = (question: Question): string =>
  `${reportPath(question.report)}?${new URLSearchParams(parametersOf(question))}`;

/** The SQL that the service runs for a caller who may see every row. Literals replace its parameters. */
export function sqlOf(question: Question): string {
  const parameters = Object.entries(parametersOf(question)).map(([name, value]) => [name, [value]]);
  const request = parseRequest(question.report, {
    parameters: Object.fromEntries(parameters),
    accept: undefined,
  });
  const query = compileQuery(request, 'every-company');
  const literals = query.parameters.values();
  return query.sql.replaceAll('?', () => literals.next().value ?? '?');
}

/**
 * Every order of the columns. All orders are equal work. Each is a different report, so the cached report of one order
 * never answers a request for another.
 */
export const ordersOf = (names: readonly string[]): string[][] =>
  names.length < 2
    ? [[...names]]
    : names.flatMap((name) =>
        ordersOf(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
      );

const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAYS = 59;
const LENGTHS = [1, 7, 14, 31, 32];
const SHAPES: readonly Omit<Question, 'firstDay' | 'days'>[] = [
  { report: publisherReport, fields: ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['DateTime', 'DeviceOrProxy', 'ServedAds'] },
  { report: publisherReport, fields: ['PlacementId', 'Clicks', 'Revenue'] },
  { report: publisherReport, fields: ['Day', 'PublisherCompanyId', 'ServedAds', 'Revenue'] },
  { report: advertiserReport, fields: ['Day', 'CampaignId', 'Impressions', 'Clicks', 'Spend'] },
  { report: advertiserReport, fields: ['CampaignLineId', 'CreativeId', 'Conversions'] },
];

/**
 * Draws `count` questions, each for a different report: both reports, one to 32 days, some filtered. The same seed
 * gives the same questions.
 */
export function distinct(count: number, seed: number): Question[] {
  const random = dice(seed);
  const draw = (below: number): number => Math.floor(random() * below);
  const oneOf = <T>(values: readonly T[]): T => values[draw(values.length)] as T;
  const byPath = new Map<string, Question>();
  for (let drawn = 0; byPath.size < count && drawn < 100 * count; drawn++) {
    const days = oneOf(LENGTHS);
    const filters = draw(3) === 0 && { filters: { PublisherCompanyId: String(1000 + draw(20)) } };
    const firstDay = utcDay(FIRST_DAY + draw(DAYS - days) * DAY_MS);
    const question: Question = { ...oneOf(SHAPES), firstDay, days, ...filters };
    byPath.set(pathOf(question), question);
  }
  return [...byPath.values()];
}
