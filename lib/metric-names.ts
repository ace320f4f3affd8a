/** Names of the metrics. The functions that write metrics and the alarms that read them both use these names. */

export const METRIC_NAMESPACE = 'PerformanceReports';

/**
 * The only dimension of these metrics. Powertools sets it from POWERTOOLS_SERVICE_NAME, which differs for each stage.
 */
export const METRIC_DIMENSION = 'service';

export const METRIC = {
  /** Count of the delivered reports: answers that led to the file. */
  reports: 'Reports',
  /**
   * Count of the reports that ended with a 5xx, because the service failed or gave the report up. A 4xx is the caller's
   * fault.
   */
  failedReports: 'FailedReports',
  /**
   * Count of the answers 503: AWS was overloaded, the report was not ready in time, its events kept changing, or its
   * client had no free slot.
   */
  unavailable: 'Unavailable',
  /** Count of the queries that failed, were cancelled or stopped, or left an unreadable result. */
  failedQueries: 'FailedQueries',
  /** Bytes that a query scanned: what Athena charges for. */
  bytesScanned: 'BytesScanned',
  /** 1 if the probe got a report as a partner gets it, otherwise 0. */
  probePulled: 'ProbePulled',
  /** How many rows the probe's report has for yesterday. */
  probeRows: 'ProbeRows',
  /** Milliseconds from a query's submission to its end. */
  queryDuration: 'QueryDuration',
} as const;
