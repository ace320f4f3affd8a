import { DOCUMENTS_PATH } from './names.ts';
import { type Report, reports } from './report/catalogue.ts';

/** One route of the service: a path, and the function that answers it, deployed or on one machine. */
export interface Route {
  /** The path, with its parameters in braces. */
  readonly path: string;
  /** Name of the file in `functions/` and of the bundle. */
  readonly functionName: string;
  readonly report?: Report;
}

/** HEAD does what GET does; the gateway leaves the body out. */
export const ROUTE_METHODS = ['GET', 'HEAD'];

export const daysFunction = ({ name }: Report): string => `${name}-days`;

/** The function for what needs no right, and for every path and method that no route takes (404). */
export const PUBLIC_FUNCTION = 'public';

/** The gateway gzips bodies of at least this size, such as the page's files, if the caller accepts gzip. */
export const MIN_GZIP_BYTES = 10_240;

/** A browser's question before a page of another origin sends a token; answered with `corsOrigins`. */
export const PREFLIGHT_METHOD = 'OPTIONS';

/** The path prefix of reports, days of reports, fields and downloads (docs/contract.md#the-two-reports). */
export const BASE_PATH = '/reporting';

export const reportPath = ({ name }: Pick<Report, 'name'>): string => `${BASE_PATH}/${name}`;
export const daysPath = (report: Pick<Report, 'name'>): string => `${reportPath(report)}/days`;
/** Where a caller waits for a report that takes longer than one request. */
export const downloadPath = (ticket: string, hop: number | string): string =>
  `${BASE_PATH}/downloads/${ticket}/${hop}`;
export const OPENAPI_PATH = '/openapi.json';
export const FIELDS_PATH = `${BASE_PATH}/fields`;

export const routes: readonly Route[] = [
  ...reports.map((report) => ({ path: reportPath(report), functionName: report.name, report })),
  ...reports.map((report) => ({ path: daysPath(report), functionName: daysFunction(report) })),
  { path: downloadPath('{ticket}', '{hop}'), functionName: 'downloads' },
  { path: OPENAPI_PATH, functionName: PUBLIC_FUNCTION },
  { path: FIELDS_PATH, functionName: PUBLIC_FUNCTION },
  { path: '/', functionName: PUBLIC_FUNCTION },
  { path: '/page/{file}', functionName: PUBLIC_FUNCTION },
  { path: DOCUMENTS_PATH, functionName: PUBLIC_FUNCTION },
  { path: `${DOCUMENTS_PATH}/{document}`, functionName: PUBLIC_FUNCTION },
  { path: '/llms.txt', functionName: PUBLIC_FUNCTION },
];
