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
import { ENV, MOST_FINAL_AFTER_HOURS } from './names.ts';
import { byOwner, ownerNames } from './report/catalogue.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const whole = (minimum: number, maximum: number) =>
  v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.minValue(minimum), v.maxValue(maximum));

const origin = v.pipe(
  v.string(),
  v.check((text) => URL.canParse(text) && new URL(text).origin === text, 'expected origins, https://host'),
);

const companyClaims = v.strictObject(
  byOwner(() => v.exactOptional(v.strictObject({ claim: text, prefix: v.exactOptional(text) }))),
);

const environment = v.object({
  /** The deployed commit, for logs and answers. */
  [ENV.commit]: v.optional(text, 'unknown'),
  /** The issuer whose tokens are accepted, exactly as in their `iss`. */
  [ENV.tokenIssuer]: text,
  [ENV.tokenJwksUri]: v.pipe(v.string(), v.url()),
  /** Tokens must be requested with `{API_SCOPE}/.default` (docs/contract.md#the-scope). */
  [ENV.apiScope]: text,
  /** A claim that every token must carry. With it, a token may name the API in `aud`, as Entra ID's do. */
  [ENV.requiredClaim]: v.optional(text),
  [ENV.requiredClaimValue]: v.optional(text),
  /**
   * What decides which companies' rows a caller may see: the register of partners (`partners`) or the token (`claims`).
   * With `none`, every caller sees all rows. There is no default: a deployment that forgot to choose must not start.
   */
  [ENV.entitlements]: v.picklist(['partners', 'claims', 'none']),
  [ENV.partnersBucket]: v.optional(text),
  /**
   * JSON: for each owner (`publisherCompanies`, `advertiserCompanies`), the claim that lists company ids. If the claim
   * holds role names, `prefix` is the text before the id:
   * `{"publisherCompanies":{"claim":"roles","prefix":"publisher-company:"}}`. If an owner has no claim here, no token
   * gives access to the reports that the owner governs.
   */
  [ENV.companyClaims]: v.optional(v.pipe(v.string(), v.parseJson(), companyClaims), '{}'),
  /** The claim value that means every company; no number, because company ids are numbers. */
  [ENV.everyCompanyValue]: v.optional(v.pipe(text, v.regex(/^(?!-?\d+$)/, 'must not be a number'))),
  [ENV.athenaDatabase]: text,
  [ENV.athenaWorkgroup]: text,
  [ENV.resultsBucket]: text,
  /** The longest that a request waits for its query; the first one at most `FIRST_WAIT_MS`. */
  [ENV.queryWaitMs]: v.optional(whole(100, QUERY_WAIT_MS), String(QUERY_WAIT_MS)),
  /** A query is stopped if it runs longer than this, or waits in the queue longer than this. */
  [ENV.longestQueryMs]: v.optional(whole(1, 1_800_000), '600000'),
  /** The bucket of the lake. Without it, the lake can't be listed, so no report is reused. */
  [ENV.eventsBucket]: v.optional(text),
  [ENV.eventsPrefix]: v.optional(v.pipe(v.string(), v.regex(/^(.*\/)?$/, 'must be empty or end with /')), ''),
  /** How old a cached listing of the lake may be, in seconds. With 0, each request lists the lake. */
  [ENV.listingSeconds]: v.optional(whole(0, 3_600), '0'),
  /** The workgroup's scan limit for one query, in bytes; 0 if unknown. */
  [ENV.maxBytesScanned]: v.optional(whole(0, Number.MAX_SAFE_INTEGER), '0'),
  /** How many slots each client has; 0 means no limit. In a deployment: the stage's `queries.underWayPerPartner`. */
  [ENV.queriesPerPartner]: v.optional(whole(0, 10_000), '0'),
  /** How many requests a second the gateway accepts for one report, of all callers together. Only told, not kept here. */
  [ENV.requestsPerSecond]: v.optional(v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/), v.transform(Number))),
  /** How long a download URL is valid. It expires with its role's credentials, far sooner than SigV4's week. */
  [ENV.downloadUrlSeconds]: v.optional(whole(1, 43_200), '300'),
  /** The origin of the edge in front of the results bucket (`https://host`), if the stage has an edge. */
  [ENV.downloadsEdgeOrigin]: v.optional(origin),
  /** Whether download URLs lead to the edge (`yes`) or to the bucket (`no`). */
  [ENV.linksLeadToEdge]: v.optional(v.picklist(['yes', 'no']), 'no'),
  /** The origins whose pages may call the service, separated by commas. The service's own origin need not be listed. */
  [ENV.corsOrigins]: v.optional(
    v.pipe(
      v.string(),
      v.transform((list) => (list === '' ? [] : list.split(','))),
      v.array(origin),
    ),
    '',
  ),
  /** How many hours after a day's end (UTC) the operator promises the day to be final; 0 promises nothing. */
  [ENV.finalAfterHours]: v.optional(whole(0, MOST_FINAL_AFTER_HOURS), '0'),
  /** The currency of all amounts (ISO 4217). Without it, the service names no currency. */
  [ENV.currency]: v.optional(v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'expected three capital letters'))),
  /** Where callers request access tokens. Without it, the service names no such place. */
  [ENV.accessTokenEndpoint]: v.optional(
    v.pipe(v.string(), v.check(isTokenEndpoint, `expected ${TOKEN_ENDPOINT_FORM}`)),
  ),
  /** Whom callers can ask for access. Without it, the service names nobody. */
  [ENV.accessContact]: v.optional(v.pipe(v.string(), v.check(isContact, `expected ${CONTACT_FORM}`))),
  /** The directory of the page's files. Without it, the function reads `files/` beside its module. */
  [ENV.pageFiles]: v.optional(text),
});

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
  const { [ENV.requiredClaim]: name, [ENV.requiredClaimValue]: value } = values;
  if ((name === undefined) !== (value === undefined))
    throw new Error(`${ENV.requiredClaim} and ${ENV.requiredClaimValue} go together: set both or neither.`);
  const bucket = values[ENV.eventsBucket];
  const { [ENV.accessTokenEndpoint]: tokenEndpoint, [ENV.accessContact]: contact } = values;
  const access: Access = { ...(tokenEndpoint && { tokenEndpoint }), ...(contact && { contact }) };
  return Object.freeze({
    commit: values[ENV.commit],
    token: Object.freeze({
      issuer: values[ENV.tokenIssuer],
      jwksUri: values[ENV.tokenJwksUri],
      apiScope: values[ENV.apiScope],
      requiredClaim: name !== undefined && value !== undefined ? Object.freeze({ name, value }) : undefined,
    }),
    entitlements: Object.freeze(entitlementTerms(values)),
    athenaDatabase: values[ENV.athenaDatabase],
    athenaWorkgroup: values[ENV.athenaWorkgroup],
    resultsBucket: values[ENV.resultsBucket],
    queryWaitMs: values[ENV.queryWaitMs],
    longestQueryMs: values[ENV.longestQueryMs],
    lake: bucket === undefined ? undefined : Object.freeze({ bucket, prefix: values[ENV.eventsPrefix] }),
    listingMs: values[ENV.listingSeconds] * 1_000,
    /** How long a query may wait in Athena's queue. Its running time does not count. */
    longestQueueMs: values[ENV.longestQueryMs],
    scanLimit: values[ENV.maxBytesScanned] || undefined,
    queriesPerPartner: values[ENV.queriesPerPartner] || undefined,
    requestsPerSecond: values[ENV.requestsPerSecond],
    downloadUrlSeconds: values[ENV.downloadUrlSeconds],
    downloadsEdgeOrigin: values[ENV.downloadsEdgeOrigin],
    /** The edge's origin if links lead to the edge, otherwise undefined. */
    linkOrigin: values[ENV.linksLeadToEdge] === 'yes' ? values[ENV.downloadsEdgeOrigin] : undefined,
    corsOrigins: values[ENV.corsOrigins],
    finalAfterHours: values[ENV.finalAfterHours] || undefined,
    currency: values[ENV.currency],
    access: Object.freeze(access),
    pageFiles: values[ENV.pageFiles],
  });
}

function entitlementTerms(values: v.InferOutput<typeof environment>): EntitlementTerms {
  const by = values[ENV.entitlements];
  if (by === 'none') return { by };
  if (by === 'partners') {
    const bucket = values[ENV.partnersBucket];
    if (bucket !== undefined) return { by, bucket };
    throw new Error(`${ENV.entitlements} is "partners": name the register's bucket, ${ENV.partnersBucket}.`);
  }
  const everyCompany = values[ENV.everyCompanyValue];
  const rules = Object.entries(values[ENV.companyClaims]).map(([owner, rule]) => [
    owner,
    { prefix: undefined, everyCompany, ...rule },
  ]);
  if (rules.length > 0) return { by, rules: Object.fromEntries(rules) };
  throw new Error(
    `${ENV.entitlements} is "claims": name one or more in ${ENV.companyClaims}: ${ownerNames.join(', ')}.`,
  );
}
