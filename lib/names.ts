/**
 * The names that the functions, the infrastructure and the one-machine stack must agree on. A name that
 * stands here can't drift apart.
 */

/** Environment variables of the functions; what each holds is said in `config.ts`. */
export const ENV = {
  tokenIssuer: 'TOKEN_ISSUER',
  tokenJwksUri: 'TOKEN_JWKS_URI',
  apiScope: 'API_SCOPE',
  entitlements: 'ENTITLEMENTS',
  publisherCompaniesClaim: 'PUBLISHER_COMPANIES_CLAIM',
  publisherCompaniesPrefix: 'PUBLISHER_COMPANIES_PREFIX',
  advertiserCompaniesClaim: 'ADVERTISER_COMPANIES_CLAIM',
  advertiserCompaniesPrefix: 'ADVERTISER_COMPANIES_PREFIX',
  everyCompanyValue: 'EVERY_COMPANY_VALUE',
  athenaDatabase: 'ATHENA_DATABASE',
  athenaWorkgroup: 'ATHENA_WORKGROUP',
  resultsBucket: 'RESULTS_BUCKET',
  queryWaitMs: 'QUERY_WAIT_MS',
  longestQueryMs: 'LONGEST_QUERY_MS',
  reportMaxAgeSeconds: 'REPORT_MAX_AGE_SECONDS',
  downloadUrlSeconds: 'DOWNLOAD_URL_SECONDS',
} as const;

/** The path under which every route of the service lives (contract 4.3, 4.4). */
export const BASE_PATH = '/reporting';

/** Where a caller waits for a report that takes longer than one request: `/{ticket}/{hop}` follows. */
export const DOWNLOADS_PATH = `${BASE_PATH}/downloads`;

/** Where the OpenAPI document is served. */
export const OPENAPI_PATH = '/openapi.json';

/** Where things lie in the results bucket, and for how many days at most. */
export const RESULTS_PREFIX = {
  /** What Athena writes: `athena/<query execution id>.csv`. */
  athena: 'athena/',
  /** What callers download. */
  reports: 'reports/',
  /** The query execution that was last started for a report: what identical requests join. */
  queries: 'queries/',
  /** Claims on reports under way: what a waiting URL stands for. */
  tickets: 'tickets/',
  /** Results too large to publish while a caller waits; a new object here starts the publishing function. */
  orders: 'orders/',
  /** Written every few seconds by the function that publishes such a result. */
  heartbeats: 'heartbeats/',
} as const;
