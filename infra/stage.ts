/**
 * The settings of a stage, each with its meaning and its check. The file is long because it is the operator's one
 * reference of settings: docs/deploy.md points here.
 */
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import {
  CONTACT_FORM,
  isContact,
  isTokenEndpoint,
  TOKEN_ENDPOINT_FORM,
} from '../lib/access/access-details.ts';
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

/** Clients send their secrets there, so http is allowed only on 127.0.0.1 and localhost. */
const tokenEndpoint = v.pipe(
  v.string(),
  v.check(
    (url) => isTokenEndpoint(url) && /^(https:|http:\/\/(127\.0\.0\.1|localhost)[:/])/.test(url),
    ({ received }) => `expected ${TOKEN_ENDPOINT_FORM}, with https, received ${received}`,
  ),
);

/** A setting of older versions: whoever still has it is told what takes its place. */
const noLongerTaken = (message: string) =>
  v.exactOptional(
    v.pipe(
      v.unknown(),
      v.check(() => false, message),
    ),
  );

/** The concurrency limit that some new AWS accounts have: ten executions. */
export const LEAST_EXECUTIONS = 10;

const existingIssuer = v.strictObject({
  provider: v.literal('existing'),
  /** As it stands in the tokens' `iss`. */
  issuer: text,
  /** Where the provider publishes its signing keys. */
  jwksUri: v.pipe(v.string(), v.url()),
  /**
   * A role or another claim that every token must carry: `{ name: 'roles', value: 'Reports.Read' }`. Without it, a
   * token must carry the scope in `scope` or `scp`; with it, `aud` may be `apiScope` instead, as with Entra ID.
   */
  requiredClaim: v.exactOptional(v.strictObject({ name: text, value: text })),
  /**
   * Where partners request tokens: shown in the stack's outputs, and by `/reporting/fields` unless
   * `access.tokenEndpoint` is set.
   */
  tokenUrl: tokenEndpoint,
});

const cognito = v.strictObject({
  provider: v.literal('cognito'),
  /**
   * Clients that an older version of this app made from the stage file. Those named here stay in Cognito when the app
   * no longer defines them; CloudFormation deletes the others (docs/partners.md, "Clients of an older version").
   */
  formerClients: v.exactOptional(
    v.array(matching(/^[a-z][a-z0-9-]{0,31}$/, 'lower case letters, digits and hyphens')),
    [],
  ),
  clients: noLongerTaken(
    '`clients` is no longer part of the stage file: `npm run partner` adds clients. Rename `clients` to `formerClients` to ' +
      'keep those that are deployed (docs/partners.md, "Clients of an older version")',
  ),
});

const companies = v.strictObject({
  claim: text,
  /** If the claim holds role names: the text before the company's id. */
  prefix: v.exactOptional(text),
});

const byPartners = v.strictObject({ by: v.literal('partners') });

const everyRow = v.strictObject({ by: v.literal('none') });

const byClaims = v.pipe(
  v.strictObject({
    by: v.literal('claims'),
    ...byOwner(() => v.exactOptional(companies)),
    /** The value that stands for every company. */
    everyCompanyValue: v.exactOptional(v.pipe(text, v.regex(/^(?!-?\d+$)/, 'must not be a number'))),
  }),
  v.check(
    (claims) => ownerNames.some((owner) => claims[owner]),
    `expected one or more of ${ownerNames.join(', ')}`,
  ),
);

const snsTopic = matching(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/, 'the ARN of a topic of SNS');

const settings = v.strictObject({
  /** Where the stage may be deployed; without it, wherever the credentials point. */
  environment: v.exactOptional(
    v.strictObject({
      account: matching(/^\d{12}$/, 'the 12 digits of an AWS account'),
      region: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'an AWS region'),
    }),
  ),
  /**
   * Protects the stacks from deletion, and keeps the buckets and the identities if they are deleted all the same. A first
   * deployment protects nothing yet (docs/deploy.md, "First deployment").
   */
  keepData: v.boolean(),
  /**
   * Tokens must be requested with `{apiScope}/.default` (docs/contract.md#the-scope). Cognito takes no space, `"` or
   * `\` in it.
   */
  apiScope: v.pipe(
    matching(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'printable characters without space, quote or backslash'),
    v.maxLength(256),
  ),
  identity: v.variant('provider', [existingIssuer, cognito]),
  /** What `/reporting/fields` and the page tell anyone who asks how to get access. */
  access: v.exactOptional(
    v.strictObject({
      /** Where access tokens come from. Without it: the identity provider's token endpoint. */
      tokenEndpoint: v.exactOptional(tokenEndpoint),
      /** Whom to ask. Without it, they don't say. */
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
   * Which rows a caller sees: by `partners`, those of the companies that the register has for its client; by `claims`,
   * those that its token names; by `none`, every row.
   */
  entitlements: v.variant('by', [byPartners, byClaims, everyRow]),
  events: v.strictObject({
    /** An existing bucket of the same region; without it, one is made. */
    bucket: v.exactOptional(text),
    /** Where the tables' folders lie in the bucket. */
    prefix: v.exactOptional(matching(/^([\w.=-]+\/)*$/, 'a prefix that ends with a slash'), ''),
    /** The key of an existing bucket that is encrypted with KMS. */
    kmsKeyArn: v.exactOptional(matching(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/.+$/, 'the ARN of a KMS key')),
    /** The first day there are events for, UTC. Reports show nothing from before it. */
    firstDay: v.pipe(
      v.string(),
      v.check((day) => parseUtcTime(`${day}T00:00:00Z`) !== undefined, 'expected a date, YYYY-MM-DD'),
    ),
    /**
     * The currency of all amounts in the events, shown by the page and `/reporting/fields`. Without it, they show none.
     */
    currency: v.exactOptional(matching(/^[A-Z]{3}$/, 'a currency, ISO 4217')),
  }),
  queries: v.strictObject({
    /** A query that scans more is stopped and answered 400. Athena takes no limit under 10 MB. */
    maxGigabytesScanned: v.pipe(v.number(), v.minValue(0.01)),
    /**
     * How many slots each partner has: queries that it may have under way. Further reports wait in the waiting room for
     * a free slot. Joined queries and cached reports need none.
     */
    underWayPerPartner: v.exactOptional(whole(1, 10_000), 5),
  }),
  reports: v.strictObject({
    /**
     * How old a function's listing of the events may be; 0 lists them at each request. Use it if the lake gets a file
     * every few seconds.
     */
    listingSeconds: v.exactOptional(whole(0, 3_600), 0),
    /** A query that takes longer is stopped. Athena's own limit is 30 minutes. */
    longestQuerySeconds: whole(1, 1_800),
    /** How long a download URL is good for. It never outlives its function's credentials, whatever stands here. */
    downloadUrlSeconds: whole(1, 43_200),
  }),
  /**
   * Puts a CloudFront distribution in front of the results bucket, for clients that repeat their token after the
   * redirect (docs/deploy.md, "An edge for downloads"). `standby`: no download URL leads there. `on`: all do, except
   * for files over 30 GB. To remove it, set `standby` first, so that URLs already given out stay valid.
   */
  downloads: v.exactOptional(v.strictObject({ edge: v.picklist(['standby', 'on']) })),
  /**
   * How many of the account's concurrent executions only these functions may use; they never use more. Without it, requests
   * that wait may hold all of them, and then nothing is published and the probe can't run. AWS keeps 100 of an account
   * unreserved, so an account with fewer than 101 can reserve none.
   */
  reservedConcurrency: v.exactOptional(
    v.strictObject({ publish: whole(1, 1_000), probe: v.exactOptional(whole(1, 10)) }),
  ),
  /**
   * How many Lambda executions the requests of all callers may hold at one time; beyond it, 429. Each method's rate and
   * burst follow from it (`api/method-limits.ts`). API Gateway treats these as targets, so a few more may pass. The
   * account's limit must be at least this: `npm run doctor` checks it.
   */
  executions: whole(LEAST_EXECUTIONS, 100_000),
  throttling: noLongerTaken(
    'throttling is no part of the stage file any more: API Gateway limits each method by itself. Set executions, from ' +
      'which the limits follow (docs/scale.md, "The limits of the stage")',
  ),
  /** Requests of one address in any five minutes; beyond it, 429. AWS WAF accepts no limit under 10. */
  maxRequestsPerAddress: whole(10, 2_000_000_000),
  logDays: v.enum(RetentionDays, ({ received }) => `CloudWatch keeps no logs for ${received} days`),
  alarms: v.strictObject({
    /** Gets every alarm once its owner has confirmed the subscription. Not together with `topicArn`. */
    email: v.exactOptional(v.pipe(v.string(), v.email())),
    /** A topic of the operator's own, of the stage's region, which CloudWatch may publish to: gets every alarm. */
    topicArn: v.exactOptional(snsTopic),
    /**
     * Such a topic for alarms of severity `ticket`. With it, `topicArn` or `email` gets only those of severity `page`.
     */
    ticketTopicArn: v.exactOptional(snsTopic),
    /** An alarm fires if the queries of an hour scan this much or more. */
    gigabytesScannedPerHour: v.pipe(v.number(), v.minValue(0.01)),
  }),
  /**
   * Pulls a small report on a schedule, as a partner would; an alarm tells when it can't. With Cognito it gets a client
   * of its own. With an existing issuer, `secretArn` names the secret in AWS Secrets Manager that holds its client's
   * `{"clientId": …, "clientSecret": …}`. The client must be entitled to the publisher report.
   */
  probe: v.exactOptional(
    v.strictObject({
      everyMinutes: v.picklist([5, 10, 15, 30, 60]),
      secretArn: v.exactOptional(
        matching(/^arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:.+$/, 'the ARN of a secret'),
      ),
    }),
  ),
  /**
   * How many minutes a new release gets a tenth of the requests for reports, days and the waiting room, before it gets all of
   * them. A crash in that time takes the release back. First it must deliver one report to the client of the probe, so that the
   * stage needs a probe. Without this setting, a new release gets all requests at once.
   */
  shiftMinutes: v.exactOptional(v.picklist([10, 15, 30])),
  /** Origins whose web pages may call the API with a token of theirs. The service's own page needs none. */
  corsOrigins: v.exactOptional(
    v.array(
      matching(/^https:\/\/[a-z0-9.-]+(:\d+)?$|^http:\/\/localhost(:\d+)?$/, 'an origin, https://host'),
    ),
    [],
  ),
  /** Without it, the API answers at API Gateway's address. The certificate must be of the stage's region. */
  domain: v.exactOptional(
    v.strictObject({
      name: matching(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name'),
      certificateArn: matching(/^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/.+$/, 'the ARN of a certificate'),
      /** Without it, whoever runs the DNS makes the record. */
      hostedZone: v.exactOptional(v.strictObject({ id: text, name: text })),
    }),
  ),
  /** Where `docs/runbook.md` can be read; every alarm links to an entry. It must be a URL if `keepData` is set. */
  runbookUrl: text,
  /** Cost tags beside `service` and `stage`. */
  tags: v.record(v.string(), v.string()),
});

const isUrl = (value: string): boolean => v.is(v.pipe(v.string(), v.url()), value) && /^https?:/.test(value);

/**
 * The settings, with the rules between them. A stage that keeps its data needs somebody who is told of alarms, by e-mail or by
 * a topic, and the runbook's http or https URL. A probe needs a secret with an existing issuer, and takes none with Cognito.
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
  v.forward(
    v.partialCheck(
      [['probe'], ['shiftMinutes']],
      ({ probe, shiftMinutes }) => shiftMinutes === undefined || probe !== undefined,
      'expected together with a probe: its client pulls a report from the new release first',
    ),
    ['shiftMinutes'],
  ),
);

const NAME = /^[a-z][a-z0-9-]{0,15}$/;

/** The stage's name is part of the prefix of Cognito's domain, which may not hold these ("AWS::Cognito::UserPoolDomain"). */
const NOT_IN_COGNITO = /aws|amazon|cognito/;

const usesCognito = (input: unknown): boolean =>
  v.is(v.object({ identity: v.object({ provider: v.literal('cognito') }) }), input);

/** Rounded, because CloudFormation accepts only whole bytes, and 8.2 × 1e9 is not whole in floating point. */
export const bytesOf = (gigabytes: number): number => Math.round(gigabytes * 1_000_000_000);

/** What differs between stages, before it is checked. */
export type StageInput = v.InferInput<typeof stage>;

/** What differs between stages. */
export type Stage = v.InferOutput<typeof stage> & { readonly name: string };

/** Checks one stage's settings; throws an OperatorFault that names every one that is missing or wrong. */
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
