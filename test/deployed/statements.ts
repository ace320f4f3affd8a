import { reports } from '../../lib/report/catalogue.ts';

/** What proves that a function's role needs a statement. */
export type Proof =
  /** A test takes the statement, or a part of it, out of the deployed role, and the function fails. */
  | 'here'
  /** AWS needs the statement, as this AWS document says. The emulator works without it. */
  | { readonly awsOnly: string };

const reportFunctions = reports.map(({ name }) => name);
const querying = [...reportFunctions, 'downloads'];
const days = reportFunctions.map((name) => `${name}-days`);
const everything = [...querying, ...days, 'public', 'publish', 'abandon', 'probe', 'release-check'];

const ATHENA_S3 = 'Athena User Guide, "Control access to Amazon S3 from Athena"';
const S3_MISSING =
  'S3 API Reference, "GetObject" and "HeadObject", Permissions: without it, 403 instead of 404 for what is not there';
const ATHENA_GLUE =
  'Athena User Guide, "Configure access to databases and tables in the AWS Glue Data Catalog"';

/**
 * Every statement of every function's role. Athena reads tables and events, and writes results, with the rights of the
 * function that starts the query. The emulator's Athena needs no rights for that, so no test can prove that such a
 * statement is needed.
 */
export const statements: readonly {
  readonly sid: string;
  readonly functions: readonly string[];
  readonly proof: Proof;
}[] = [
  { sid: 'ReadPartners', functions: [...querying, ...days], proof: 'here' },
  { sid: 'RunQueries', functions: querying, proof: 'here' },
  { sid: 'ReadTableDefinitions', functions: querying, proof: { awsOnly: ATHENA_GLUE } },
  { sid: 'SeeDefaultDatabase', functions: querying, proof: { awsOnly: ATHENA_GLUE } },
  { sid: 'LocateBuckets', functions: querying, proof: { awsOnly: ATHENA_S3 } },
  { sid: 'ListEvents', functions: [...querying, ...days], proof: 'here' },
  { sid: 'ReadEvents', functions: querying, proof: { awsOnly: ATHENA_S3 } },
  {
    sid: 'DecryptEvents',
    functions: querying,
    proof: {
      awsOnly: 'Athena User Guide, "Encryption at rest": only where the events have a key of their own',
    },
  },
  { sid: 'WriteQueryResults', functions: querying, proof: { awsOnly: ATHENA_S3 } },
  { sid: 'ListQueryResultUploads', functions: querying, proof: { awsOnly: ATHENA_S3 } },
  {
    sid: 'TellMissingFromForbidden',
    functions: [...querying, 'publish', 'abandon'],
    proof: { awsOnly: S3_MISSING },
  },
  { sid: 'ReadResults', functions: [...querying, 'publish', 'abandon'], proof: 'here' },
  { sid: 'WriteResults', functions: [...querying, 'publish', 'abandon'], proof: 'here' },
  {
    sid: 'AbortUploads',
    functions: ['publish'],
    proof: {
      awsOnly: 'S3 User Guide, "Multipart upload API and permissions": an upload that fails half-way',
    },
  },
  {
    sid: 'TellFailure',
    functions: ['publish'],
    proof: { awsOnly: 'Lambda Developer Guide, "Capturing records of Lambda asynchronous invocations"' },
  },
  {
    sid: 'KeepLostEvent',
    functions: ['abandon'],
    proof: { awsOnly: 'Lambda Developer Guide, "Capturing records of Lambda asynchronous invocations"' },
  },
  { sid: 'ReadProbeClient', functions: ['probe', 'release-check'], proof: 'here' },
  { sid: 'AskNewRelease', functions: ['release-check'], proof: 'here' },
  {
    sid: 'WriteLog',
    functions: everything,
    proof: { awsOnly: 'Lambda Developer Guide, "Sending Lambda function logs to CloudWatch Logs"' },
  },
];
