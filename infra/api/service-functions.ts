import { type Report, reports } from '../../lib/report/catalogue.ts';
import { daysFunction, pathOf } from '../../lib/routes.ts';
import {
  listingPermissions,
  type Permission,
  partnersPermissions,
  queryPermissions,
  resultsPermissions,
  type ServicePlace,
} from './permissions.ts';
import { FUNCTION_TIMEOUT_SECONDS, PUBLISH_TIMEOUT_SECONDS } from './timeouts.ts';

/** One Lambda function. A new one is a file in `functions/` and an entry here. */
export interface ServiceFunction {
  /** Of its file in `functions/` and its folder in `dist/`. */
  readonly name: string;
  readonly description: string;
  /** Where GET and HEAD requests reach it; absent where none do. */
  readonly route?: string;
  /** Set where objects start it that arrive in the results bucket. */
  readonly startedBy?: 'orders';
  readonly timeoutSeconds: number;
  readonly permissions: (place: ServicePlace) => readonly Permission[];
}

const reportFunction = (report: Report): ServiceFunction => ({
  name: report.name,
  description: report.title,
  route: pathOf(report.name),
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  permissions: (place) => [
    ...partnersPermissions(place),
    ...queryPermissions(place, [report]),
    ...resultsPermissions(place, {
      reads: ['athena', 'reports', 'orders', 'publications', 'abandoned'],
      writes: ['reports', 'tickets', 'orders', 'publications'],
    }),
  ],
});

const daysOfReport = (report: Report): ServiceFunction => ({
  name: daysFunction(report),
  description: `Days of the ${report.title.toLowerCase()}: complete or not, changed or not`,
  route: pathOf(daysFunction(report)),
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  permissions: (place) => [...partnersPermissions(place), ...listingPermissions(place, [report])],
});

/** The waiting room carries on what any report's function began, down to a failed query's second try. */
const downloads: ServiceFunction = {
  name: 'downloads',
  description: 'Waiting room of reports under way',
  route: pathOf('downloads'),
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  permissions: (place) => [
    ...partnersPermissions(place),
    ...queryPermissions(place, reports),
    ...resultsPermissions(place, {
      reads: ['athena', 'reports', 'tickets', 'orders', 'publications', 'abandoned'],
      writes: ['reports', 'tickets', 'orders', 'publications'],
    }),
  ],
};

const publish: ServiceFunction = {
  name: 'publish',
  description: 'Publishes results too large to publish while a caller waits',
  startedBy: 'orders',
  timeoutSeconds: PUBLISH_TIMEOUT_SECONDS,
  permissions: (place) =>
    resultsPermissions(place, { reads: ['athena', 'reports', 'publications'], writes: ['reports'] }),
};

const openapi: ServiceFunction = {
  name: 'openapi',
  description: 'Describes the API',
  route: pathOf('openapi'),
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  permissions: () => [],
};

export const serviceFunctions: readonly ServiceFunction[] = [
  ...reports.map(reportFunction),
  ...reports.map(daysOfReport),
  downloads,
  openapi,
  publish,
];
