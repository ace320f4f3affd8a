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
  downloadUrlSeconds: 'DOWNLOAD_URL_SECONDS',
} as const;

/** The path under which every route of the service lives (contract 4.3, 4.4). */
export const BASE_PATH = '/reporting';

/** Where things lie in the results bucket. */
export const RESULTS_PREFIX = {
  /** What Athena writes: `athena/<query execution id>.csv`. */
  athena: 'athena/',
  /** What callers download. */
  reports: 'reports/',
} as const;
