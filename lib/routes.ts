import { BASE_PATH, DOWNLOADS_PATH, FIELDS_PATH, OPENAPI_PATH, PAGE_FILES_PATH, PAGE_PATH } from './names.ts';
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

/** The gateway zips an answer's body of so many bytes or more for whoever admits gzip: the description of the API, the page's files. */
export const ZIPPED_FROM_BYTES = 10_240;
/** What a browser asks before it lets a page of another origin send a token; answered where a stage has such origins. */
export const PREFLIGHT_METHOD = 'OPTIONS';

/** Every route there is. */
export const routes: readonly Route[] = [
  ...reports.map((report) => ({ path: `${BASE_PATH}/${report.name}`, functionName: report.name, report })),
  ...reports.map((report) => ({
    path: `${BASE_PATH}/${report.name}/days`,
    functionName: daysFunction(report),
  })),
  { path: `${DOWNLOADS_PATH}/{ticket}/{hop}`, functionName: 'downloads' },
  { path: OPENAPI_PATH, functionName: 'openapi' },
  { path: FIELDS_PATH, functionName: 'fields' },
  { path: PAGE_PATH, functionName: 'page' },
  { path: `${PAGE_FILES_PATH}/{file}`, functionName: 'page' },
];

/** The path of a function that has one route. */
export function pathOf(functionName: string): string {
  const route = routes.find((candidate) => candidate.functionName === functionName);
  if (!route) throw new TypeError(`no route leads to ${functionName}`);
  return route.path;
}
