import { FIRST_WAIT_MS } from '../../lib/names.ts';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import { daysFunction, NOT_FOUND_FUNCTION } from '../../lib/routes.ts';
import {
  failurePermission,
  listingPermissions,
  lostEventPermission,
  type Permission,
  partnersPermissions,
  queryPermissions,
  resultsPermissions,
  type ServiceResources,
  uploadPermission,
} from './permissions.ts';
import {
  ABANDON_TIMEOUT_SECONDS,
  ANSWER_TIMEOUT_SECONDS,
  FUNCTION_TIMEOUT_SECONDS,
  PUBLISH_TIMEOUT_SECONDS,
  QUERY_WAIT_MS,
} from './timeouts.ts';

/**
 * How requests that wait load a stage: which part of its executions those of one route may hold, and for how long one
 * does. What is left is for answers at once, for publishing and for the probe.
 */
interface Load {
  readonly part: number;
  readonly waitsSeconds: number;
}

/**
 * One Lambda function. A new one is a file in `functions/` and an entry here; `lib/routes.ts` says what requests reach
 * it.
 */
export interface ServiceFunction {
  /** Of its file in `functions/` and of its bundle's folder. */
  readonly name: string;
  readonly description: string;
  readonly timeoutSeconds: number;
  /** CPU comes with memory; 1,769 MB is one whole vCPU, and one thread uses no more. */
  readonly memoryMb: number;
  /** Undefined where its requests wait for nothing. */
  readonly load?: Load;
  readonly permissions: (service: ServiceResources) => readonly Permission[];
}

/** Verifies signatures, compiles, and re-types reports while a caller waits. */
const WORKING_MB = 1_769;

/**
 * Waits most of the time, which costs by memory. It has less than a third of a vCPU: where a report of the largest size
 * that is made at once (16 MB) ends in the waiting room, making it takes longer than in the function of the report.
 */
const WAITING_MB = 512;

/**
 * Folders that release 1.0.0 reads and this one does not. A rollback moves code and not roles, so these rights stay for one
 * release more.
 */
const readBefore = { reports: ['orders'], downloads: ['orders', 'tickets'] } as const;

const reportFunction = (report: Report): ServiceFunction => ({
  name: report.name,
  description: report.title,
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  memoryMb: WORKING_MB,
  load: { part: 0.47 / reports.length, waitsSeconds: FIRST_WAIT_MS / 1_000 },
  permissions: (service) => [
    ...partnersPermissions(service),
    ...queryPermissions(service, [report]),
    ...resultsPermissions(service, {
      reads: [
        'athena',
        'reports',
        'cached',
        'jobs',
        'publications',
        'abandoned',
        'slots',
        ...readBefore.reports,
      ],
      writes: ['reports', 'cached', 'jobs', 'waiting', 'publications', 'slots'],
    }),
  ],
});

const daysOfReport = (report: Report): ServiceFunction => ({
  name: daysFunction(report),
  description: `Days of the ${report.title.toLowerCase()}: complete or not, changed or not`,
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  load: { part: 0.05 / reports.length, waitsSeconds: FIRST_WAIT_MS / 1_000 },
  permissions: (service) => [...partnersPermissions(service), ...listingPermissions(service, [report])],
});

/** The waiting room carries on what any report's function began, down to a failed query's second try. */
const downloads: ServiceFunction = {
  name: 'downloads',
  description: 'Waiting room of reports under way',
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  // The largest part: a request that is refused here wastes a query that is paid for.
  load: { part: 0.29, waitsSeconds: QUERY_WAIT_MS / 1_000 },
  permissions: (service) => [
    ...partnersPermissions(service),
    ...queryPermissions(service, reports),
    ...resultsPermissions(service, {
      reads: [
        'athena',
        'reports',
        'cached',
        'jobs',
        'waiting',
        'publications',
        'abandoned',
        'slots',
        ...readBefore.downloads,
      ],
      writes: ['reports', 'cached', 'jobs', 'waiting', 'publications', 'slots'],
    }),
  ],
};

const openapi: ServiceFunction = {
  name: 'openapi',
  description: 'Describes the API',
  timeoutSeconds: ANSWER_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  permissions: () => [],
};

const fields: ServiceFunction = {
  name: 'fields',
  description: 'The catalogue of reports and fields',
  timeoutSeconds: ANSWER_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  permissions: () => [],
};

const page: ServiceFunction = {
  name: 'page',
  description: 'The page for people',
  timeoutSeconds: ANSWER_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  permissions: () => [],
};

/** Every other path, and every other method. */
export const notFound: ServiceFunction = {
  name: NOT_FOUND_FUNCTION,
  description: 'Answers 404 where there is nothing',
  timeoutSeconds: ANSWER_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  permissions: () => [],
};

/** Is told of publications that failed for good. */
export const abandon: ServiceFunction = {
  name: 'abandon',
  description: 'Tells who waits that a large result will not be published',
  timeoutSeconds: ABANDON_TIMEOUT_SECONDS,
  memoryMb: WAITING_MB,
  permissions: (service) => [
    ...resultsPermissions(service, { reads: ['publications'], writes: ['abandoned'] }),
    lostEventPermission(service),
  ],
};

export const publish: ServiceFunction = {
  name: 'publish',
  description: 'Publishes results too large to publish while a caller waits',
  timeoutSeconds: PUBLISH_TIMEOUT_SECONDS,
  memoryMb: WORKING_MB,
  permissions: (service) => [
    ...resultsPermissions(service, {
      reads: ['athena', 'reports', 'publications', 'cached'],
      writes: ['reports', 'cached'],
    }),
    uploadPermission(service),
    failurePermission(service, abandon.name),
  ],
};

/** The functions that answer a partner who requests a report. */
export const deliveringFunctions: readonly ServiceFunction[] = [...reports.map(reportFunction), downloads];

/** The functions that answer a partner's requests for reports and days. */
export const answeringFunctions: readonly ServiceFunction[] = [
  ...reports.map(reportFunction),
  ...reports.map(daysOfReport),
  downloads,
];

/** The functions that reports need. */
export const reportingFunctions: readonly ServiceFunction[] = [...answeringFunctions, publish, abandon];

export const serviceFunctions: readonly ServiceFunction[] = [
  ...reportingFunctions,
  openapi,
  fields,
  page,
  notFound,
];
