import { QUERY_WAIT_MS } from '../../lib/function-settings.ts';
import { ENV, METRIC_NAMESPACE } from '../../lib/names.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import type { BucketNames } from '../data/data-stack.ts';
import type { TokenIssuer } from '../identity/identity-stack.ts';
import type { ResourceNames } from '../resource-names.ts';
import { bytesOf, type Stage } from '../stage.ts';
import { requestsForAReport } from './method-limits.ts';

/** Every variable that `lib/config.ts` knows must be listed. For undefined, `lib/config.ts` uses the default. */
type Variables = Readonly<Record<(typeof ENV)[keyof typeof ENV], string | undefined>>;

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
  const variables: Variables = {
    [ENV.commit]: commit,
    [ENV.tokenIssuer]: tokenIssuer.issuer,
    [ENV.tokenJwksUri]: tokenIssuer.jwksUri,
    [ENV.apiScope]: stage.apiScope,
    [ENV.requiredClaim]: tokenIssuer.requiredClaim?.name,
    [ENV.requiredClaimValue]: tokenIssuer.requiredClaim?.value,
    [ENV.entitlements]: entitlements.by,
    [ENV.partnersBucket]: entitlements.by === 'partners' ? bucketNames.partners : undefined,
    // If an owner has no claim, its value here is undefined, and JSON leaves the owner out.
    [ENV.companyClaims]: claims && JSON.stringify(byOwner((owner) => claims[owner])),
    [ENV.everyCompanyValue]: claims?.everyCompanyValue,
    [ENV.athenaDatabase]: names.database,
    [ENV.athenaWorkgroup]: names.service,
    [ENV.resultsBucket]: bucketNames.results,
    [ENV.eventsBucket]: bucketNames.events,
    [ENV.eventsPrefix]: events.prefix,
    [ENV.listingSeconds]: String(reports.listingSeconds),
    [ENV.maxBytesScanned]: String(bytesOf(queries.maxGigabytesScanned)),
    [ENV.queriesPerPartner]: String(queries.underWayPerPartner),
    [ENV.requestsPerSecond]: String(requestsForAReport(stage.executions)),
    [ENV.queryWaitMs]: String(QUERY_WAIT_MS),
    [ENV.longestQueryMs]: String(reports.longestQuerySeconds * 1_000),
    [ENV.downloadUrlSeconds]: String(reports.downloadUrlSeconds),
    // Also set in standby: the page's security policy then allows the edge. If links lead to the edge later, pages that
    // are already open can use it.
    [ENV.downloadsEdgeOrigin]: downloadsEdgeOrigin,
    [ENV.linksLeadToEdge]: downloads && (downloads.edge === 'on' ? 'yes' : 'no'),
    [ENV.corsOrigins]: corsOrigins.length > 0 ? corsOrigins.join(',') : undefined,
    [ENV.finalAfterHours]: reports.finalAfterHours?.toString(),
    [ENV.currency]: events.currency,
    [ENV.accessTokenEndpoint]: access.tokenEndpoint ?? tokenIssuer.tokenUrl,
    [ENV.accessContact]: access.contact,
    // The page's files are in the bundle, beside the function.
    [ENV.pageFiles]: undefined,
  };
  const given = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    ...Object.fromEntries(given),
    POWERTOOLS_SERVICE_NAME: names.service,
    POWERTOOLS_METRICS_NAMESPACE: METRIC_NAMESPACE,
    // The bundles are minified. Without source maps, a stack trace in the log would say nothing.
    NODE_OPTIONS: '--enable-source-maps',
  };
}
