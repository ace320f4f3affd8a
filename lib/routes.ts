import { type Report, reports } from './report/catalogue.ts';

/** One route of the service: what the gateways, the deployed one and the local one, send to which function. */
export interface Route {
  /** With path parameters in braces. */
  readonly path: string;
  /** Of its file in `functions/`, and of its bundle. */
  readonly functionName: string;
  /** The report that it answers with, where it answers with one. */
  readonly report?: Report;
}

/** HEAD does what GET does; the gateway leaves the body out. */
export const ROUTE_METHODS = ['GET', 'HEAD'];

/** The function that tells how the days of a report stand. */
export const daysFunction = ({ name }: Report): string => `${name}-days`;

/** Answers every path and method that no route takes. */
export const NOT_FOUND_FUNCTION = 'notfound';

/**
 * The gateway zips an answer's body of so many bytes or more for whoever admits gzip: the description of the API, the
 * page's files.
 */
export const ZIPPED_FROM_BYTES = 10_240;

/** What a browser sends before it lets a page of another origin send a token; answered if a stage has such origins. */
export const PREFLIGHT_METHOD = 'OPTIONS';

/** The path under which reports, and all that belongs to them, live (docs/contract.md#the-two-reports). */
export const BASE_PATH = '/reporting';

export const reportPath = ({ name }: Pick<Report, 'name'>): string => `${BASE_PATH}/${name}`;

export const daysPath = (report: Pick<Report, 'name'>): string => `${reportPath(report)}/days`;

/** Where a caller waits for a report that takes longer than one request. */
export const downloadPath = (ticket: string, hop: number | string): string =>
  `${BASE_PATH}/downloads/${ticket}/${hop}`;

/** Every route there is. */
export const routes: readonly Route[] = [
  ...reports.map((report) => ({ path: reportPath(report), functionName: report.name, report })),
  ...reports.map((report) => ({ path: daysPath(report), functionName: daysFunction(report) })),
  { path: downloadPath('{ticket}', '{hop}'), functionName: 'downloads' },
  { path: '/openapi.json', functionName: 'openapi' },
  { path: `${BASE_PATH}/fields`, functionName: 'fields' },
  // The page for people, and the files that it loads.
  { path: '/', functionName: 'page' },
  { path: '/page/{file}', functionName: 'page' },
];

/** The path of a function that has one route. */
export function pathOf(functionName: string): string {
  const route = routes.find((candidate) => candidate.functionName === functionName);
  if (!route) throw new TypeError(`no route leads to ${functionName}`);
  return route.path;
}
