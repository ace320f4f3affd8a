import { reports } from '../../lib/report/catalogue.ts';

const reportFunctions = reports.map(({ name }) => name);
const querying = [...reportFunctions, 'downloads'];
const days = reportFunctions.map((name) => `${name}-days`);
const everything = [...querying, ...days, 'public', 'publish', 'abandon', 'probe', 'release-check'];

const ATHENA_S3 = 'Athena User Guide, "Control access to Amazon S3 from Athena"';
const S3_MISSING =
  'S3 API Reference, "GetObject" and "HeadObject", Permissions: without it, 403 instead of 404 for what is not there';
const ATHENA_GLUE =
  'Athena User Guide, "Configure access to databases and tables in the AWS Glue Data Catalog"';

const LAMBDA_LOGS = 'Lambda Developer Guide, "Sending Lambda function logs to CloudWatch Logs"';
const LAMBDA_RECORDS = 'Lambda Developer Guide, "Capturing records of Lambda asynchronous invocations"';

/**
 * Every statement of every function's role. Athena reads tables and events, and writes results, with the rights of the
 * function that starts the query. The emulator's Athena needs no rights for that, so no test can prove that such a
 * statement is needed.
 */
export const statements: readonly {
  readonly sid: string;
  readonly functions: readonly string[];
  /**
   * What proves that the role needs it: `here` a test takes it, or a part of it, out of the deployed role, and the
   * function fails. Else the AWS document which says that AWS needs it. The emulator works without it.
   */
  readonly proof: string;
}[] = [
  { sid: 'ReadPartners', functions: [...querying, ...days], proof: 'here' },
  { sid: 'RunQueries', functions: querying, proof: 'here' },
  { sid: 'ReadTableDefinitions', functions: querying, proof: ATHENA_GLUE },
  { sid: 'SeeDefaultDatabase', functions: querying, proof: ATHENA_GLUE },
  { sid: 'LocateBuckets', functions: querying, proof: ATHENA_S3 },
  { sid: 'ListEvents', functions: [...querying, ...days], proof: 'here' },
  { sid: 'ReadEvents', functions: querying, proof: ATHENA_S3 },
  {
    sid: 'DecryptEvents',
    functions: querying,
    proof: 'Athena User Guide, "Encryption at rest": only where the events have a key of their own',
  },
  { sid: 'WriteQueryResults', functions: querying, proof: ATHENA_S3 },
  { sid: 'ListQueryResultUploads', functions: querying, proof: ATHENA_S3 },
  { sid: 'TellMissingFromForbidden', functions: [...querying, 'publish', 'abandon'], proof: S3_MISSING },
  { sid: 'ReadResults', functions: [...querying, 'publish', 'abandon'], proof: 'here' },
  { sid: 'WriteResults', functions: [...querying, 'publish', 'abandon'], proof: 'here' },
  {
    sid: 'AbortUploads',
    functions: ['publish'],
    proof: 'S3 User Guide, "Multipart upload API and permissions": an upload that fails half-way',
  },
  { sid: 'TellFailure', functions: ['publish'], proof: LAMBDA_RECORDS },
  { sid: 'KeepLostEvent', functions: ['abandon'], proof: LAMBDA_RECORDS },
  { sid: 'ReadProbeClient', functions: ['probe', 'release-check'], proof: 'here' },
  { sid: 'AskNewRelease', functions: ['release-check'], proof: 'here' },
  { sid: 'WriteLog', functions: everything, proof: LAMBDA_LOGS },
];
