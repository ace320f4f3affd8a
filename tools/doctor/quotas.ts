import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  NoSuchResourceException,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';

/** The mean duration of a report's query in the simulated rush (docs/benchmarks.md, "The rush at six"). */
export const QUERY_SECONDS = 8;
/** A function runs for a second more in total: before its query starts, and after its query has ended. */
const EXECUTION_SECONDS = QUERY_SECONDS + 1;
/** How many requests one report takes on average in the simulated rush. */
export const REQUESTS_A_REPORT = 1.4;

/** A quota of the account: service and code as in AWS Service Quotas, and a name for operators. */
export type QuotaName = ReturnType<typeof quota>;

/** @param costOfReport how much of the quota one new report a second takes */
const quota = (service: string, code: string, name: string, costOfReport: number) => ({
  ...{ service, code, name, costOfReport },
});

/** The quotas that can limit the service. */
export const QUOTAS = {
  executions: quota('lambda', 'L-B99A9384', 'Lambda, concurrent executions', EXECUTION_SECONDS),
  activeQueries: quota('athena', 'L-FC5F6546', 'Athena, active DML queries', QUERY_SECONDS),
  starts: quota('athena', 'L-4FF11DD3', 'Athena, StartQueryExecution a second', 1),
  requests: quota('apigateway', 'L-8A5B8E43', 'API Gateway, requests a second', REQUESTS_A_REPORT),
  // At worst, a partner's program fetches a token for every report.
  tokens: quota('cognito-idp', 'L-74D3DD04', 'Cognito, ClientAuthentication a second', 1),
};

export type QuotaKey = keyof typeof QUOTAS;

export const quotaKeys = Object.keys(QUOTAS) as QuotaKey[];

interface Quota {
  readonly value: number;
  /** Whether AWS raises the quota on request. Undefined if AWS does not say. */
  readonly isAdjustable?: boolean;
}

/** The quotas of an account in one region. A quota is undefined if AWS does not return it. */
export type AccountQuotas = Readonly<Partial<Record<QuotaKey, Quota | undefined>>> & {
  /** The executions that functions have reserved. `executions` counts only the others. */
  readonly reservedExecutions: number;
};

/** Makes one call of AWS, or some that belong together. Undefined if AWS refuses it; a line then says so. */
export type Look = <T>(what: string, act: () => Promise<T>) => Promise<T | undefined>;

/** Reads the quotas that can limit the service, each by itself. It changes nothing. */
export async function readQuotas(look: Look): Promise<AccountQuotas> {
  const client = new ServiceQuotasClient({});
  const [own, ...read] = await Promise.all([
    look("Lambda's executions", concurrentExecutions),
    ...quotaKeys.map((key) => look(`the quota "${QUOTAS[key].name}"`, () => quotaOf(client, QUOTAS[key]))),
  ]);
  const quotas: Partial<AccountQuotas> = Object.fromEntries(quotaKeys.map((key, at) => [key, read[at]]));
  if (!own) return { ...quotas, reservedExecutions: 0 };
  const { unreserved, reserved } = own;
  const executions = { ...quotas.executions, value: unreserved };
  return { ...quotas, executions, reservedExecutions: reserved };
}

/** Asks Lambda, because Service Quotas may show the default of 1,000 for a new account that has fewer. */
async function concurrentExecutions(): Promise<{ unreserved: number; reserved: number }> {
  const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}));
  const all = AccountLimit?.ConcurrentExecutions ?? 0;
  const unreserved = AccountLimit?.UnreservedConcurrentExecutions ?? all;
  return { unreserved, reserved: all - unreserved };
}

/** The account's own quota or, if it has none, AWS's default. Undefined if AWS knows neither. */
async function quotaOf(
  client: ServiceQuotasClient,
  { service: ServiceCode, code: QuotaCode }: QuotaName,
): Promise<Quota | undefined> {
  const names = { ServiceCode, QuotaCode };
  const unlessUnknown = (error: unknown): { Quota?: undefined } => {
    if (error instanceof NoSuchResourceException) return {};
    throw error;
  };
  const { Quota: own } = await client.send(new GetServiceQuotaCommand(names)).catch(unlessUnknown);
  const quota =
    own ?? (await client.send(new GetAWSDefaultServiceQuotaCommand(names)).catch(unlessUnknown)).Quota;
  if (quota?.Value === undefined) return undefined;
  return { value: quota.Value, ...(quota.Adjustable !== undefined && { isAdjustable: quota.Adjustable }) };
}
