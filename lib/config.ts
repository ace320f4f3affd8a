import * as v from 'valibot';
import {
  type Access,
  CONTACT_FORM,
  isContact,
  isTokenEndpoint,
  TOKEN_ENDPOINT_FORM,
} from './access/access-details.ts';
import type { EntitlementTerms } from './access/whose-rows.ts';
import { QUERY_WAIT_MS } from './function-settings.ts';
import { MOST_FINAL_AFTER_HOURS } from './names.ts';
import { byOwner, ownerNames } from './report/catalogue.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const whole = (minimum: number, maximum: number) =>
  v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.minValue(minimum), v.maxValue(maximum));

const origin = v.pipe(
  v.string(),
  v.check((text) => URL.canParse(text) && new URL(text).origin === text, 'expected origins, https://host'),
);
const origins = v.pipe(
  v.string(),
  v.transform((list) => (list === '' ? [] : list.split(','))),
  v.array(origin),
);
const companyClaims = v.strictObject(
  byOwner(() => v.exactOptional(v.strictObject({ claim: text, prefix: v.exactOptional(text) }))),
);

const environment = v.object({
  COMMIT: v.optional(text, 'unknown'),
  /** The issuer whose tokens are accepted, exactly as in their `iss`. */
  TOKEN_ISSUER: text,
  TOKEN_JWKS_URI: v.pipe(v.string(), v.url()),
  /** Tokens must be requested with `{API_SCOPE}/.default` (docs/contract.md#the-scope). */
  API_SCOPE: text,
  /** A claim that every token must carry. With it, a token may name the API in `aud`, as Entra ID's do. */
  REQUIRED_CLAIM: v.optional(text),
  REQUIRED_CLAIM_VALUE: v.optional(text),
  /**
   * What decides whose rows a caller may see: the register of partners (`partners`) or the token (`claims`). With `none`,
   * every caller sees all rows. There is no default: a deployment that forgot to choose must not start.
   */
  ENTITLEMENTS: v.picklist(['partners', 'claims', 'none']),
  PARTNERS_BUCKET: v.optional(text),
  /**
   * For each owner, the claim that lists company ids, and the text before an id if the claim holds role names:
   * `{"publisherCompanies":{"claim":"roles","prefix":"publisher-company:"}}`. If an owner has no claim here,
   * no token gives access to its reports.
   */
  COMPANY_CLAIMS: v.optional(v.pipe(v.string(), v.parseJson(), companyClaims), '{}'),
  /** Means every company. No number, because company ids are numbers. */
  EVERY_COMPANY_VALUE: v.optional(v.pipe(text, v.regex(/^(?!-?\d+$)/, 'must not be a number'))),
  ATHENA_DATABASE: text,
  ATHENA_WORKGROUP: text,
  RESULTS_BUCKET: text,
  /** The longest that a request waits for its query; the first one at most `FIRST_WAIT_MS`. */
  QUERY_WAIT_MS: v.optional(whole(100, QUERY_WAIT_MS), String(QUERY_WAIT_MS)),
  /** A query is stopped if it runs longer than this, or waits in the queue longer than this. */
  LONGEST_QUERY_MS: v.optional(whole(1, 1_800_000), '600000'),
  /** The bucket of the lake. Without it, the lake can't be listed, so no report is reused. */
  EVENTS_BUCKET: v.optional(text),
  EVENTS_PREFIX: v.optional(v.pipe(v.string(), v.regex(/^(.*\/)?$/, 'must be empty or end with /')), ''),
  /** How old a cached listing of the lake may be, in seconds. With 0, each request lists the lake. */
  LISTING_SECONDS: v.optional(whole(0, 3_600), '0'),
  /** The workgroup's scan limit for one query, in bytes; 0 if unknown. */
  MAX_BYTES_SCANNED: v.optional(whole(0, Number.MAX_SAFE_INTEGER), '0'),
  /** How many slots each client has; 0 means no limit. In a deployment: the stage's `queries.underWayPerPartner`. */
  QUERIES_PER_PARTNER: v.optional(whole(0, 10_000), '0'),
  /** How many requests a second the gateway accepts for one report, of all callers together. Only told, not kept here. */
  REQUESTS_PER_SECOND: v.optional(v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/), v.transform(Number))),
  /** How long a download URL is valid. It expires with its role's credentials, far sooner than SigV4's week. */
  DOWNLOAD_URL_SECONDS: v.optional(whole(1, 43_200), '300'),
  /** The origin of the edge in front of the results bucket (`https://host`), if the stage has an edge. */
  DOWNLOADS_EDGE_ORIGIN: v.optional(origin),
  /** Whether download URLs lead to the edge (`yes`) or to the bucket (`no`). */
  LINKS_LEAD_TO_EDGE: v.optional(v.picklist(['yes', 'no']), 'no'),
  /** The origins whose pages may call the service, separated by commas. The service's own origin need not be listed. */
  CORS_ORIGINS: v.optional(origins, ''),
  /** How many hours after a day's end (UTC) the operator promises the day to be final; 0 promises nothing. */
  FINAL_AFTER_HOURS: v.optional(whole(0, MOST_FINAL_AFTER_HOURS), '0'),
  /** The currency of all amounts (ISO 4217). Without it, the service names no currency. */
  CURRENCY: v.optional(v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'expected three capital letters'))),
  ACCESS_TOKEN_ENDPOINT: v.optional(
    v.pipe(v.string(), v.check(isTokenEndpoint, `expected ${TOKEN_ENDPOINT_FORM}`)),
  ),
  ACCESS_CONTACT: v.optional(v.pipe(v.string(), v.check(isContact, `expected ${CONTACT_FORM}`))),
  /** Without it, the function reads `files/` beside its module. */
  PAGE_FILES: v.optional(text),
});

export type Variable = keyof typeof environment.entries;

/** The functions' configuration. The name of a duration ends with its unit. */
export type Config = ReturnType<typeof readConfig>;

/** Reads the configuration. Throws an Error that names every variable that is missing or wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const result = v.safeParse(environment, env);
  if (!result.success) {
    const faults = result.issues.map(({ message, path }) => `${path?.[0].key}: ${message}`);
    throw new Error(`The environment is incomplete or wrong.\n${faults.join('\n')}`);
  }
  const values = result.output;
  const { REQUIRED_CLAIM: name, REQUIRED_CLAIM_VALUE: value, EVENTS_BUCKET: bucket } = values;
  if ((name === undefined) !== (value === undefined))
    throw new Error('REQUIRED_CLAIM and REQUIRED_CLAIM_VALUE go together: set both or neither.');
  const { ACCESS_TOKEN_ENDPOINT: tokenEndpoint, ACCESS_CONTACT: contact } = values;
  const access: Access = { ...(tokenEndpoint && { tokenEndpoint }), ...(contact && { contact }) };
  return Object.freeze({
    commit: values.COMMIT,
    token: Object.freeze({
      issuer: values.TOKEN_ISSUER,
      jwksUri: values.TOKEN_JWKS_URI,
      apiScope: values.API_SCOPE,
      requiredClaim: name !== undefined && value !== undefined ? Object.freeze({ name, value }) : undefined,
    }),
    entitlements: Object.freeze(entitlementTerms(values)),
    athenaDatabase: values.ATHENA_DATABASE,
    athenaWorkgroup: values.ATHENA_WORKGROUP,
    resultsBucket: values.RESULTS_BUCKET,
    queryWaitMs: values.QUERY_WAIT_MS,
    longestQueryMs: values.LONGEST_QUERY_MS,
    lake: bucket === undefined ? undefined : Object.freeze({ bucket, prefix: values.EVENTS_PREFIX }),
    listingMs: values.LISTING_SECONDS * 1_000,
    scanLimit: values.MAX_BYTES_SCANNED || undefined,
    queriesPerPartner: values.QUERIES_PER_PARTNER || undefined,
    requestsPerSecond: values.REQUESTS_PER_SECOND,
    downloadUrlSeconds: values.DOWNLOAD_URL_SECONDS,
    downloadsEdgeOrigin: values.DOWNLOADS_EDGE_ORIGIN,
    linkOrigin: values.LINKS_LEAD_TO_EDGE === 'yes' ? values.DOWNLOADS_EDGE_ORIGIN : undefined,
    corsOrigins: values.CORS_ORIGINS,
    finalAfterHours: values.FINAL_AFTER_HOURS || undefined,
    currency: values.CURRENCY,
    access: Object.freeze(access),
    pageFiles: values.PAGE_FILES,
  });
}

function entitlementTerms(values: v.InferOutput<typeof environment>): EntitlementTerms {
  const { ENTITLEMENTS: by, PARTNERS_BUCKET: bucket, EVERY_COMPANY_VALUE: everyCompany } = values;
  if (by === 'none') return { by };
  if (by === 'partners') {
    if (bucket !== undefined) return { by, bucket };
    throw new Error('ENTITLEMENTS is "partners": name the register\'s bucket, PARTNERS_BUCKET.');
  }
  const every = { prefix: undefined, everyCompany };
  const rules = Object.entries(values.COMPANY_CLAIMS).map(([owner, rule]) => [owner, { ...every, ...rule }]);
  if (rules.length > 0) return { by, rules: Object.fromEntries(rules) };
  throw new Error(`ENTITLEMENTS is "claims": name one or more in COMPANY_CLAIMS: ${ownerNames.join(', ')}.`);
}
