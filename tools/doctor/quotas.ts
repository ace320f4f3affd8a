import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  NoSuchResourceException,
  type ServiceQuota,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';

/** A quota of the account: service and code as in AWS Service Quotas, and a name for operators. */
export interface QuotaName {
  readonly service: string;
  readonly code: string;
  readonly name: string;
}

/** The mean duration of a report's query in the simulated rush (docs/benchmarks.md, "The rush at six"). */
export const QUERY_SECONDS = 8;
/** The time that a function runs before its query starts and after its query has ended, in total. */
const BESIDE_QUERY_SECONDS = 1;
/** How many requests one report takes on average in the simulated rush. */
export const REQUESTS_A_REPORT = 1.4;

/** The quotas that can limit the service, and how much of each one new report a second takes. */
export const QUOTAS = {
  executions: {
    ...{ service: 'lambda', code: 'L-B99A9384', name: 'Lambda, concurrent executions' },
    costOfReport: QUERY_SECONDS + BESIDE_QUERY_SECONDS,
  },
  activeQueries: {
    ...{ service: 'athena', code: 'L-FC5F6546', name: 'Athena, active DML queries' },
    costOfReport: QUERY_SECONDS,
  },
  starts: {
    ...{ service: 'athena', code: 'L-4FF11DD3', name: 'Athena, StartQueryExecution a second' },
    costOfReport: 1,
  },
  requests: {
    ...{ service: 'apigateway', code: 'L-8A5B8E43', name: 'API Gateway, requests a second' },
    costOfReport: REQUESTS_A_REPORT,
  },
  // At worst, a partner's program fetches a token for every report.
  tokens: {
    ...{ service: 'cognito-idp', code: 'L-74D3DD04', name: 'Cognito, ClientAuthentication a second' },
    costOfReport: 1,
  },
} as const satisfies Record<string, QuotaName & { readonly costOfReport: number }>;

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
  const named = { ServiceCode, QuotaCode };
  const found =
    (await client.send(new GetServiceQuotaCommand(named)).then(({ Quota }) => Quota, unlessUnknown)) ??
    (await client
      .send(new GetAWSDefaultServiceQuotaCommand(named))
      .then(({ Quota }) => Quota, unlessUnknown));
  return found && quotaIn(found);
}

const quotaIn = ({ Value, Adjustable }: ServiceQuota): Quota | undefined =>
  Value === undefined
    ? undefined
    : { value: Value, ...(Adjustable !== undefined && { isAdjustable: Adjustable }) };

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof NoSuchResourceException)) throw error;
}
