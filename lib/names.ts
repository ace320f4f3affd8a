/** The names that the functions, the infrastructure and the one-machine stack must agree on. */

/** `help` of a problem leads there. */
export const DOCUMENTS_PATH = '/docs';

/**
 * The results bucket's CORS rule. It allows pages of any origin, because the URL's signature gives the right. After a
 * redirect to another origin, a browser sends `Origin: null`, which no list of origins would match.
 */
export const DOWNLOAD_CORS = {
  methods: ['GET', 'HEAD'],
  allowedHeaders: ['Range'],
  exposedHeaders: [
    'Content-Disposition',
    'Content-Encoding',
    'Content-Range',
    'ETag',
    'x-amz-meta-data-version',
  ],
  maxAgeSeconds: 7_200,
} as const;

/** The most hours after a day's end for which an operator may promise that the day is final: ten days. */
export const MOST_FINAL_AFTER_HOURS = 240;

/** How many days the results bucket keeps reports, Athena's results and records of jobs; some prefixes expire sooner. */
export const REPORT_KEPT_DAYS = 7;

export const RESULTS_PREFIX = {
  /** What Athena writes: `athena/<query execution id>.csv`. */
  athena: 'athena/',
  /** What callers download: `reports/<query execution id>/<file name>`. Written once, never changed. */
  reports: 'reports/',
  /** Release 1.0.0's reports by job: this release neither reads nor writes them. */
  cached: 'cached/',
  /** One record for each job: the state of the job's latest attempt. */
  jobs: 'jobs/',
  /** One ticket for each report that a caller waits for. The waiting URL names the ticket. */
  waiting: 'waiting/',
  /** Requests to publish a large result, by query execution. A new object starts the publishing function. */
  publications: 'publications/',
  /** Publications that release 1.0.0 has given up, by query execution. This release tells only 1.0.0's callers here. */
  abandoned: 'abandoned/',
  /** One document per client: the client's slots. */
  slots: 'slots/',
  /** Prefixes from before 1.0.0. Nothing writes them now, and only release 1.0.0 still reads them. */
  orders: 'orders/',
  tickets: 'tickets/',
} as const;

export const REGISTER_PREFIX = {
  /** What the functions read: one record per client, named by the SHA-256 of the client's id. */
  partners: 'partners/',
  /** By partner's name, for operators' commands: the client that it stands for, and the command under way. */
  names: 'names/',
} as const;

/** Environment variables of the probe, in addition to `API_SCOPE`. */
export const PROBE_ENV = {
  serviceUrl: 'SERVICE_URL',
  tokenUrl: 'TOKEN_URL',
  clientSecretId: 'CLIENT_SECRET_ID',
} as const;

/** The release gate's properties in the template, and `outcome`, a member of its answer. */
export const GATE = {
  release: 'Release',
  /** The ARNs of the release's versions, by the function's name. */
  versions: 'Versions',
  /** Whether the release passes without a check. */
  isOpen: 'IsOpen',
  outcome: 'Outcome',
} as const;

export const METRIC_NAMESPACE = 'PerformanceReports';

/** The metrics' only dimension. Powertools sets it from POWERTOOLS_SERVICE_NAME, which differs for each stage. */
export const METRIC_DIMENSION = 'service';

export const METRIC = {
  /** Count of the delivered reports: answers that led to the file. */
  reports: 'Reports',
  /** Count of the reports that ended with a 5xx: the service failed, or gave the report up. */
  failedReports: 'FailedReports',
  /** Count of the answers 503 (`Unavailable` says when). */
  unavailable: 'Unavailable',
  /** Count of the calls of StartQueryExecution that Athena throttled, whether a later try succeeded or not. */
  throttledStarts: 'ThrottledStarts',
  /** Count of the queries that failed, were cancelled or stopped, or left an unreadable result. */
  failedQueries: 'FailedQueries',
  /** Bytes that a query scanned: what Athena charges for. */
  bytesScanned: 'BytesScanned',
  /** 1 if the probe got a report as a partner gets it, otherwise 0. */
  probePulled: 'ProbePulled',
  /** How many rows the probe's report has for yesterday. */
  probeRows: 'ProbeRows',
  /** 1 if the latest day that should be final, by the operator's promise, is not; otherwise 0. */
  lateDays: 'LateDays',
  /** Milliseconds from a query's submission to its end. */
  queryDuration: 'QueryDuration',
} as const;
