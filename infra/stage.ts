/**
 * The settings of a stage, each with its meaning and its check. The file is long because it is the operator's reference
 * of all settings: docs/deploy.md refers to it.
 */
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import {
  CONTACT_FORM,
  isContact,
  isTokenEndpoint,
  TOKEN_ENDPOINT_FORM,
} from '../lib/access/access-details.ts';
import { MOST_FINAL_AFTER_HOURS } from '../lib/names.ts';
import { byOwner, ownerNames } from '../lib/report/catalogue.ts';
import { parseUtcTime } from '../lib/report/utc-time.ts';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const whole = (minimum: number, maximum: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum));
const matching = (pattern: RegExp, expected: string) =>
  v.pipe(
    v.string(),
    v.regex(pattern, ({ received }) => `expected ${expected}, received ${received}`),
  );

/**
 * The URL of a token endpoint. Clients send their secrets to it, so http is allowed only on 127.0.0.1 and localhost.
 */
const tokenEndpoint = v.pipe(
  v.string(),
  v.check(
    (url) => isTokenEndpoint(url) && /^(https:|http:\/\/(127\.0\.0\.1|localhost)[:/])/.test(url),
    ({ received }) => `expected ${TOKEN_ENDPOINT_FORM}, with https, received ${received}`,
  ),
);

/** The concurrency limit that some new AWS accounts have: ten executions. */
export const LEAST_EXECUTIONS = 10;

const existingIssuer = v.strictObject({
  provider: v.literal('existing'),
  /** The issuer, exactly as in the tokens' `iss`. */
  issuer: text,
  /** Where the provider publishes its signing keys. */
  jwksUri: v.pipe(v.string(), v.url()),
  /**
   * A role or another claim that every token must carry: `{ name: 'roles', value: 'Reports.Read' }`. Every token must
   * also carry the scope in `scope` or `scp`. With this setting, a token may carry `apiScope` in `aud` in place of the
   * scope, as tokens of Entra ID do.
   */
  requiredClaim: v.exactOptional(v.strictObject({ name: text, value: text })),
  /**
   * Where partners request tokens: shown in the stack's outputs, and by `/reporting/fields` unless
   * `access.tokenEndpoint` is set.
   */
  tokenUrl: tokenEndpoint,
});

const companies = v.strictObject({
  claim: text,
  /** If the claim holds role names: the text before the company's id. */
  prefix: v.exactOptional(text),
});

const byClaims = v.pipe(
  v.strictObject({
    by: v.literal('claims'),
    ...byOwner(() => v.exactOptional(companies)),
    /** The claim value that stands for every company. */
    everyCompanyValue: v.exactOptional(v.pipe(text, v.regex(/^(?!-?\d+$)/, 'must not be a number'))),
  }),
  v.check(
    (claims) => ownerNames.some((owner) => claims[owner]),
    `expected one or more of ${ownerNames.join(', ')}`,
  ),
);

const snsTopic = matching(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/, 'the ARN of a topic of SNS');

const settings = v.strictObject({
  /** The account and the region that the stage is deployed to. Without this setting, the credentials decide. */
  environment: v.exactOptional(
    v.strictObject({
      account: matching(/^\d{12}$/, 'the 12 digits of an AWS account'),
      region: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'an AWS region'),
    }),
  ),
  /**
   * Protects the stacks from deletion, and keeps the buckets and the user pool if a stack is deleted nevertheless. A
   * first deployment protects nothing yet (docs/deploy.md, "First deployment").
   */
  keepData: v.boolean(),
  /**
   * Tokens must be requested with `{apiScope}/.default` (docs/contract.md#the-scope). The scope must not contain a
   * space, `"` or `\`, because Cognito refuses them.
   */
  apiScope: v.pipe(
    matching(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'printable characters without space, quote or backslash'),
    v.maxLength(256),
  ),
  identity: v.variant('provider', [existingIssuer, v.strictObject({ provider: v.literal('cognito') })]),
  /** What `/reporting/fields` and the page say about how to get access. */
  access: v.exactOptional(
    v.strictObject({
      /** Where access tokens come from. Without it: the identity provider's token endpoint. */
      tokenEndpoint: v.exactOptional(tokenEndpoint),
      /** Whom to ask for access. Without it, no contact is shown. */
      contact: v.exactOptional(
        v.pipe(
          v.string(),
          v.check(isContact, ({ received }) => `expected ${CONTACT_FORM}, received ${received}`),
        ),
      ),
    }),
    {},
  ),
  /**
   * Which rows a caller sees. `partners`: the rows of the companies that the register lists for its client. `claims`:
   * the rows of the companies that its token names. `none`: every row.
   */
  entitlements: v.variant('by', [v.strictObject({ by: v.picklist(['partners', 'none']) }), byClaims]),
  events: v.strictObject({
    /** An existing bucket in the same region. Without it, the data stack makes a bucket. */
    bucket: v.exactOptional(text),
    /** Prefix of the tables' folders in the bucket. */
    prefix: v.exactOptional(matching(/^([\w.=-]+\/)*$/, 'a prefix that ends with a slash'), ''),
    /** The key of an existing bucket that is encrypted with KMS. */
    kmsKeyArn: v.exactOptional(matching(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/.+$/, 'the ARN of a KMS key')),
    /** The first day that has events, in UTC. Reports show no earlier records. */
    firstDay: v.pipe(
      v.string(),
      v.check((day) => parseUtcTime(`${day}T00:00:00Z`) !== undefined, 'expected a date, YYYY-MM-DD'),
    ),
    /**
     * The currency of all amounts in the events, shown by the page and `/reporting/fields`. Without it, they show no
     * currency.
     */
    currency: v.exactOptional(matching(/^[A-Z]{3}$/, 'a currency, ISO 4217')),
  }),
  queries: v.strictObject({
    /** A query that scans more is stopped, and its request is answered 400. Athena accepts no limit under 10 MB. */
    maxGigabytesScanned: v.pipe(v.number(), v.minValue(0.01)),
    /**
     * How many slots each partner has: queries that it may have under way. Further reports wait in the waiting room for
     * a free slot. Joined queries and stored reports need no slot.
     */
    underWayPerPartner: v.exactOptional(whole(1, 10_000), 5),
  }),
  reports: v.strictObject({
    /**
     * How old a cached listing of the events may be, in seconds. With 0, each request lists the events. Choose a higher
     * number if the lake gets a file every few seconds.
     */
    listingSeconds: v.exactOptional(whole(0, 3_600), 0),
    /** A query that takes longer is stopped. Athena's own limit is 30 minutes. */
    longestQuerySeconds: whole(1, 1_800),
    /**
     * How many hours after a day's end (UTC) the day is promised to be final. `days`, the page and the probe go by it.
     * Without it, nothing is promised.
     */
    finalAfterHours: v.exactOptional(whole(1, MOST_FINAL_AFTER_HOURS)),
    /** How long a download URL is valid. It expires earlier if its function's credentials do. */
    downloadUrlSeconds: whole(1, 43_200),
  }),
  /**
   * Puts a CloudFront distribution in front of the results bucket, for clients that repeat their token after the
   * redirect (docs/deploy.md, "An edge for downloads"). `standby`: no download URL leads to it. `on`: all download URLs
   * lead to it, except for files over 30 GB. To remove the edge, set `standby` first, so that URLs already given out
   * stay valid.
   */
  downloads: v.exactOptional(v.strictObject({ edge: v.picklist(['standby', 'on']) })),
  /**
   * How many of the account's concurrent executions are reserved for each of these functions, which then never uses
   * more. Without a reservation, waiting requests may hold all executions: then nothing is published, and the probe
   * can't run. AWS keeps 100 executions of an account unreserved, so an account with fewer than 101 can reserve none.
   */
  reservedConcurrency: v.exactOptional(
    v.strictObject({ publish: whole(1, 1_000), probe: v.exactOptional(whole(1, 10)) }),
  ),
  /**
   * How many Lambda executions the requests of all callers may hold at one time. Requests beyond this number are
   * answered 429. Each method's rate and burst follow from it (`api/method-limits.ts`). API Gateway treats rates and
   * bursts as targets, so a few more requests may pass. The account's limit must not be lower: `npm run doctor` checks
   * it.
   */
  executions: whole(LEAST_EXECUTIONS, 100_000),
  /**
   * How many requests one address may send in any five minutes. Further requests are answered 429. AWS WAF accepts no
   * limit under 10.
   */
  maxRequestsPerAddress: whole(10, 2_000_000_000),
  logDays: v.enum(RetentionDays, ({ received }) => `CloudWatch keeps no logs for ${received} days`),
  alarms: v.strictObject({
    /**
     * The address that gets every alarm, after its owner has confirmed the subscription. Not allowed together with
     * `topicArn`.
     */
    email: v.exactOptional(v.pipe(v.string(), v.email())),
    /** The operator's own topic, in the stage's region, which gets every alarm. It must allow CloudWatch to publish. */
    topicArn: v.exactOptional(snsTopic),
    /**
     * The operator's own topic for alarms of severity `ticket`. With it, `topicArn` or `email` gets only the alarms of
     * severity `page`.
     */
    ticketTopicArn: v.exactOptional(snsTopic),
    /** An alarm fires if the queries of an hour scan this much or more. */
    gigabytesScannedPerHour: v.pipe(v.number(), v.minValue(0.01)),
  }),
  /**
   * The probe pulls a small report on a schedule, as a partner would. An alarm fires if no report comes. Each release
   * must deliver such a report before it gets requests, so the probe's client must be a partner. With Cognito,
   * the probe gets a client of its own. With an existing issuer, `secretArn` names the secret in AWS Secrets Manager
   * that holds `{"clientId": …, "clientSecret": …}` of the probe's client. This client must be entitled to the
   * publisher report.
   */
  probe: v.exactOptional(
    v.strictObject({
      everyMinutes: v.picklist([5, 10, 15, 30, 60]),
      secretArn: v.exactOptional(
        matching(/^arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:.+$/, 'the ARN of a secret'),
      ),
    }),
  ),
  /** A setting of an older version. */
  shiftMinutes: v.exactOptional(
    v.never(
      '`shiftMinutes` is no part of the stage file any more: remove it. A gate checks each release before it gets any ' +
        'request (docs/deploy.md, "Releases")',
    ),
  ),
  /** Other origins whose web pages may call the API with their own token. The service's own page needs no entry. */
  corsOrigins: v.exactOptional(
    v.array(
      matching(/^https:\/\/[a-z0-9.-]+(:\d+)?$|^http:\/\/localhost(:\d+)?$/, 'an origin, https://host'),
    ),
    [],
  ),
  /**
   * The API's own host name. Without it, the API answers at API Gateway's address. The certificate must be in the
   * stage's region.
   */
  domain: v.exactOptional(
    v.strictObject({
      name: matching(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name'),
      certificateArn: matching(/^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/.+$/, 'the ARN of a certificate'),
      /** The zone in which the stack makes the DNS record. Without it, the operator makes the record. */
      hostedZone: v.exactOptional(v.strictObject({ id: text, name: text })),
    }),
  ),
  /** Where `docs/runbook.md` can be read; every alarm links to an entry. It must be a URL if `keepData` is set. */
  runbookUrl: text,
  /** Cost tags, in addition to `service` and `stage`. */
  tags: v.record(v.string(), v.string()),
});

const isUrl = (value: string): boolean => v.is(v.pipe(v.string(), v.url()), value) && /^https?:/.test(value);

/**
 * The settings, with the rules that concern several of them. A stage that keeps its data needs an address or a topic
 * for its alarms, and the http or https URL of the runbook. A probe needs a secret if the issuer is an existing one,
 * and must have none with Cognito.
 */
const stage = v.pipe(
  settings,
  v.forward(
    v.partialCheck(
      [['keepData'], ['alarms']],
      ({ keepData, alarms }) => !keepData || (alarms.email ?? alarms.topicArn) !== undefined,
      'expected an address here, or a topic in alarms.topicArn: without one, nobody is told of an alarm',
    ),
    ['alarms', 'email'],
  ),
  v.forward(
    v.partialCheck(
      [['alarms']],
      ({ alarms }) => alarms.email === undefined || alarms.topicArn === undefined,
      'expected without alarms.topicArn: subscribe the address to that topic',
    ),
    ['alarms', 'email'],
  ),
  v.forward(
    v.partialCheck(
      [['keepData'], ['runbookUrl']],
      ({ keepData, runbookUrl }) => !keepData || isUrl(runbookUrl),
      'expected the http or https URL where the person on call can read docs/runbook.md',
    ),
    ['runbookUrl'],
  ),
  v.forward(
    v.partialCheck(
      [['identity'], ['probe']],
      ({ identity, probe }) =>
        probe === undefined || (identity.provider === 'existing') === (probe.secretArn !== undefined),
      'expected if the identity provider is an existing issuer, and only then',
    ),
    ['probe', 'secretArn'],
  ),
);

const NAME = /^[a-z][a-z0-9-]{0,15}$/;

/**
 * The stage's name is part of the prefix of Cognito's domain, where Cognito refuses these words
 * ("AWS::Cognito::UserPoolDomain").
 */
const NOT_IN_COGNITO = /aws|amazon|cognito/;

const usesCognito = (input: unknown): boolean =>
  v.is(v.object({ identity: v.object({ provider: v.literal('cognito') }) }), input);

/** Rounded, because CloudFormation accepts only whole bytes, and 8.2 × 1e9 is not whole in floating point. */
export const bytesOf = (gigabytes: number): number => Math.round(gigabytes * 1_000_000_000);

/** A stage's settings before they are checked. */
export type StageInput = v.InferInput<typeof stage>;

/** A stage's checked settings, with its name. */
export type Stage = v.InferOutput<typeof stage> & { readonly name: string };

/** Checks one stage's settings. Throws an OperatorFault that names every missing or wrong setting. */
export function readStage(name: string, input: unknown): Stage {
  const result = v.safeParse(stage, input);
  const faults = [
    ...(NAME.test(name) ? [] : ['its name: expected at most 16 lower case letters, digits and hyphens']),
    ...(NOT_IN_COGNITO.test(name) && usesCognito(input)
      ? ['its name: expected without "aws", "amazon" and "cognito", which Cognito takes in no domain']
      : []),
    ...(result.issues ?? []).map((issue) => `${v.getDotPath(issue)}: ${issue.message}`),
  ];
  if (!result.success || faults.length > 0)
    throw new OperatorFault(
      `Stage "${name}" is incomplete or wrong. Correct it in stages.ts (docs/deploy.md, "Stages of your own").\n` +
        faults.join('\n'),
    );
  return { name, ...result.output };
}
