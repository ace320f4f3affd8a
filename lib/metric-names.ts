/** The metrics that the functions write and the alarms read: both take the names from here, so that they agree. */

export const METRIC_NAMESPACE = 'PerformanceReports';

/** The one dimension. Powertools fills it from POWERTOOLS_SERVICE_NAME, which differs per stage. */
export const METRIC_DIMENSION = 'service';

export const METRIC = {
  /** Reports delivered: answers that led to the file; a count. */
  reports: 'Reports',
  /**
   * Reports that failed through a fault of the service, or were given up: answers 5xx; a count. A 4xx is the caller's
   * fault.
   */
  failedReports: 'FailedReports',
  /** Answers 503: the engine was saturated, or the report not ready in time; a count. */
  unavailable: 'Unavailable',
  /** Queries that failed, were cancelled or stopped, or left an unreadable result; a count. */
  failedQueries: 'FailedQueries',
  /** Bytes that a query scanned: what Athena charges for. */
  bytesScanned: 'BytesScanned',
  /** 1 where the probe got a report as a partner gets it, else 0. */
  probePulled: 'ProbePulled',
  /** Rows of yesterday in the probe's report. */
  probeRows: 'ProbeRows',
  /** Milliseconds from a query's submission to its end. */
  queryDuration: 'QueryDuration',
} as const;
