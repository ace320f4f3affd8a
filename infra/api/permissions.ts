import { ArnFormat, type Stack } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { REGISTER_PREFIX, RESULTS_PREFIX } from '../../lib/names.ts';
import type { Report } from '../../lib/report/catalogue.ts';
import { LIVE_ALIAS, type ResourceNames } from '../resource-names.ts';

/** One statement of a role. `docs/security.md` lists every statement with its reason. */
export interface Permission {
  readonly sid: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Why the resources contain a wildcard, if they do. */
  readonly wildcard?: string;
}

/** The stack, and the buckets that its functions work on. */
export interface ServiceResources {
  readonly stack: Stack;
  readonly names: ResourceNames;
  readonly eventsBucket: IBucket;
  readonly eventsPrefix: string;
  readonly eventsKeyArn?: string;
  readonly resultsBucket: IBucket;
  /** The register of partners. Absent if the stage does not take entitlements from it. */
  readonly partnersBucket?: IBucket;
}

const OBJECT_NAMES = 'Objects are named by what they hold; the prefix alone is known beforehand.';

const foldersOf = (eventsPrefix: string, reports: readonly Report[]): string[] =>
  reports.map(({ table }) => `${eventsPrefix}${table}/*`);

/** Lets a function list the files that hold the records of these reports. */
export const listingPermissions = (
  { eventsBucket, eventsPrefix }: ServiceResources,
  reports: readonly Report[],
): Permission[] => [
  {
    sid: 'ListEvents',
    actions: ['s3:ListBucket'],
    resources: [eventsBucket.bucketArn],
    conditions: { StringLike: { 's3:prefix': foldersOf(eventsPrefix, reports) } },
  },
];

/**
 * Lets a function run queries over the records of these reports. Athena uses the rights of its caller, so the function
 * needs rights to S3 and Glue too.
 */
export function queryPermissions(service: ServiceResources, reports: readonly Report[]): Permission[] {
  const { stack, names, eventsBucket, eventsPrefix, eventsKeyArn, resultsBucket } = service;
  const glue = (resource: string, resourceName?: string) =>
    stack.formatArn({ service: 'glue', resource, ...(resourceName && { resourceName }) });
  const folders = foldersOf(eventsPrefix, reports);
  return [
    {
      sid: 'RunQueries',
      actions: ['athena:StartQueryExecution', 'athena:GetQueryExecution', 'athena:StopQueryExecution'],
      resources: [stack.formatArn({ service: 'athena', resource: 'workgroup', resourceName: names.service })],
    },
    {
      sid: 'ReadTableDefinitions',
      actions: ['glue:GetDatabase', 'glue:GetTable', 'glue:GetPartition', 'glue:GetPartitions'],
      resources: [
        glue('catalog'),
        glue('database', names.database),
        ...reports.map(({ table }) => glue('table', `${names.database}/${table}`)),
      ],
    },
    {
      sid: 'SeeDefaultDatabase',
      actions: ['glue:GetDatabase', 'glue:GetDatabases'],
      resources: [glue('catalog'), glue('database', 'default')],
    },
    {
      sid: 'LocateBuckets',
      actions: ['s3:GetBucketLocation'],
      resources: [eventsBucket.bucketArn, resultsBucket.bucketArn],
    },
    ...listingPermissions(service, reports),
    {
      sid: 'ReadEvents',
      actions: ['s3:GetObject'],
      resources: folders.map((folder) => eventsBucket.arnForObjects(folder)),
      wildcard: OBJECT_NAMES,
    },
    ...(eventsKeyArn ? [{ sid: 'DecryptEvents', actions: ['kms:Decrypt'], resources: [eventsKeyArn] }] : []),
    {
      sid: 'WriteQueryResults',
      actions: ['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'],
      resources: [resultsBucket.arnForObjects(`${RESULTS_PREFIX.athena}*`)],
      wildcard: OBJECT_NAMES,
    },
    {
      sid: 'ListQueryResultUploads',
      actions: ['s3:ListBucketMultipartUploads'],
      resources: [resultsBucket.bucketArn],
    },
  ];
}

type ResultsFolder = keyof typeof RESULTS_PREFIX;

/** Lets a function read and write these folders of the results bucket. */
export function resultsPermissions(
  { resultsBucket }: ServiceResources,
  { reads, writes }: { readonly reads: readonly ResultsFolder[]; readonly writes: readonly ResultsFolder[] },
): Permission[] {
  const objects = (folders: readonly ResultsFolder[]) =>
    folders.map((folder) => resultsBucket.arnForObjects(`${RESULTS_PREFIX[folder]}*`));
  return [
    // Without this right, S3 answers 403 for a missing object, which looks like a missing right. There is no condition
    // on the prefix, because GetObject sends no prefix.
    { sid: 'TellMissingFromForbidden', actions: ['s3:ListBucket'], resources: [resultsBucket.bucketArn] },
    { sid: 'ReadResults', actions: ['s3:GetObject'], resources: objects(reads), wildcard: OBJECT_NAMES },
    { sid: 'WriteResults', actions: ['s3:PutObject'], resources: objects(writes), wildcard: OBJECT_NAMES },
  ];
}

/** Lets a function abort an upload of a large file, so that a failed upload leaves no parts behind. */
export const uploadPermission = ({ resultsBucket }: ServiceResources): Permission => ({
  sid: 'AbortUploads',
  actions: ['s3:AbortMultipartUpload'],
  resources: [resultsBucket.arnForObjects(`${RESULTS_PREFIX.reports}*`)],
  wildcard: OBJECT_NAMES,
});

/**
 * Lets a function look clients up in the register of partners. The function may not list the register, so it finds a
 * record only by the client's id.
 */
export const partnersPermissions = ({ partnersBucket }: ServiceResources): Permission[] =>
  partnersBucket
    ? [
        {
          sid: 'ReadPartners',
          actions: ['s3:GetObject'],
          resources: [partnersBucket.arnForObjects(`${REGISTER_PREFIX.partners}*`)],
          wildcard: OBJECT_NAMES,
        },
      ]
    : [];

/** The ARN of a function's version or alias. */
export const qualifiedArn = ({ stack, names }: ServiceResources, name: string, qualifier: string): string =>
  stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: `${names.functionName(name)}:${qualifier}`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** After a function's last retry has failed, Lambda invokes `toldTo` with the rights of the failed function. */
export const failurePermission = (service: ServiceResources, toldTo: string): Permission => ({
  sid: 'TellFailure',
  actions: ['lambda:InvokeFunction'],
  resources: [qualifiedArn(service, toldTo, LIVE_ALIAS)],
});

/**
 * After a function's last retry has failed, Lambda sends the event to the queue of lost events, with the rights of that
 * function.
 */
export const lostEventPermission = ({ stack, names }: ServiceResources): Permission => ({
  sid: 'KeepLostEvent',
  actions: ['sqs:SendMessage'],
  resources: [stack.formatArn({ service: 'sqs', resource: names.lostEvents })],
});

/** The right of every function to write its log. */
export const runtimePermissions = (logGroupArn: string): Permission[] => [
  { sid: 'WriteLog', actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroupArn] },
];
