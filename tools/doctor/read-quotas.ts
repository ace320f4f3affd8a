import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  NoSuchResourceException,
  type ServiceQuota,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { type AccountQuotas, QUOTAS, type Quota, type QuotaName } from './quotas.ts';

/** Reads the quotas that can limit the service. It changes nothing. */
export async function readQuotas(): Promise<AccountQuotas> {
  const client = new ServiceQuotasClient({});
  const [executions, asked, activeQueries, starts, requests, tokens] = await Promise.all([
    concurrentExecutions(),
    quotaOf(client, QUOTAS.executions),
    quotaOf(client, QUOTAS.activeQueries),
    quotaOf(client, QUOTAS.starts),
    quotaOf(client, QUOTAS.requests),
    quotaOf(client, QUOTAS.tokens),
  ]);
  const { unreserved, reserved } = executions;
  return {
    executions: { ...asked, value: unreserved },
    reservedExecutions: reserved,
    activeQueries,
    starts,
    requests,
    tokens,
  };
}

/**
 * Asks Lambda, because Service Quotas may show the default of 1,000 for a new account that has fewer.
 */
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
  return found && read(found);
}

const read = ({ Value, Adjustable }: ServiceQuota): Quota | undefined =>
  Value === undefined
    ? undefined
    : { value: Value, ...(Adjustable !== undefined && { isAdjustable: Adjustable }) };

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof NoSuchResourceException)) throw error;
}
