import type { Variable } from '../../lib/config.ts';
import { QUERY_WAIT_MS } from '../../lib/function-settings.ts';
import { METRIC_NAMESPACE } from '../../lib/names.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import type { BucketNames } from '../data/data-stack.ts';
import type { TokenIssuer } from '../identity/identity-stack.ts';
import type { ResourceNames } from '../resource-names.ts';
import { bytesOf, type Stage } from '../stage.ts';
import { requestsForAReport } from './method-limits.ts';

interface EnvironmentParts {
  readonly stage: Stage;
  readonly names: ResourceNames;
  readonly tokenIssuer: TokenIssuer;
  readonly bucketNames: BucketNames;
  /** Set if the stage has an edge in front of the results bucket. */
  readonly downloadsEdgeOrigin: string | undefined;
  /** The deployed commit, for logs, answers and the OpenAPI document. */
  readonly commit: string;
}

/** The environment of the functions: the same for all. */
export function functionEnvironment(parts: EnvironmentParts): Record<string, string> {
  const { stage, names, tokenIssuer, bucketNames, downloadsEdgeOrigin, commit } = parts;
  const { access, corsOrigins, downloads, entitlements, events, queries, reports } = stage;
  const claims = entitlements.by === 'claims' ? entitlements : undefined;
  // Every variable is listed. For undefined, `lib/config.ts` uses the default.
  const variables: Readonly<Record<Variable, string | undefined>> = {
    COMMIT: commit,
    TOKEN_ISSUER: tokenIssuer.issuer,
    TOKEN_JWKS_URI: tokenIssuer.jwksUri,
    API_SCOPE: stage.apiScope,
    REQUIRED_CLAIM: tokenIssuer.requiredClaim?.name,
    REQUIRED_CLAIM_VALUE: tokenIssuer.requiredClaim?.value,
    ENTITLEMENTS: entitlements.by,
    PARTNERS_BUCKET: entitlements.by === 'partners' ? bucketNames.partners : undefined,
    // If an owner has no claim, its value here is undefined, and JSON leaves the owner out.
    COMPANY_CLAIMS: claims && JSON.stringify(byOwner((owner) => claims[owner])),
    EVERY_COMPANY_VALUE: claims?.everyCompanyValue,
    ATHENA_DATABASE: names.database,
    ATHENA_WORKGROUP: names.service,
    RESULTS_BUCKET: bucketNames.results,
    EVENTS_BUCKET: bucketNames.events,
    EVENTS_PREFIX: events.prefix,
    LISTING_SECONDS: String(reports.listingSeconds),
    MAX_BYTES_SCANNED: String(bytesOf(queries.maxGigabytesScanned)),
    QUERIES_PER_PARTNER: String(queries.underWayPerPartner),
    REQUESTS_PER_SECOND: String(requestsForAReport(stage.executions)),
    QUERY_WAIT_MS: String(QUERY_WAIT_MS),
    LONGEST_QUERY_MS: String(reports.longestQuerySeconds * 1_000),
    DOWNLOAD_URL_SECONDS: String(reports.downloadUrlSeconds),
    // Also set in standby: the page's security policy then allows the edge. If links lead to the edge later, pages that
    // are already open can use it.
    DOWNLOADS_EDGE_ORIGIN: downloadsEdgeOrigin,
    LINKS_LEAD_TO_EDGE: downloads && (downloads.edge === 'on' ? 'yes' : 'no'),
    CORS_ORIGINS: corsOrigins.length > 0 ? corsOrigins.join(',') : undefined,
    FINAL_AFTER_HOURS: reports.finalAfterHours?.toString(),
    CURRENCY: events.currency,
    ACCESS_TOKEN_ENDPOINT: access.tokenEndpoint ?? tokenIssuer.tokenUrl,
    ACCESS_CONTACT: access.contact,
    // The page's files are in the bundle, beside the function.
    PAGE_FILES: undefined,
  };
  const entries = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    ...Object.fromEntries(entries),
    POWERTOOLS_SERVICE_NAME: names.service,
    POWERTOOLS_METRICS_NAMESPACE: METRIC_NAMESPACE,
    // The bundles are minified. Without source maps, a stack trace in the log would say nothing.
    NODE_OPTIONS: '--enable-source-maps',
  };
}
