/** A quota of the account: service and code as in AWS Service Quotas, and a name for operators. */
export interface QuotaName {
  readonly service: string;
  readonly code: string;
  readonly name: string;
}

export const QUOTAS = {
  executions: { service: 'lambda', code: 'L-B99A9384', name: 'Lambda, concurrent executions' },
  activeQueries: { service: 'athena', code: 'L-FC5F6546', name: 'Athena, active DML queries' },
  starts: { service: 'athena', code: 'L-4FF11DD3', name: 'Athena, StartQueryExecution a second' },
  requests: { service: 'apigateway', code: 'L-8A5B8E43', name: 'API Gateway, requests a second' },
  tokens: { service: 'cognito-idp', code: 'L-74D3DD04', name: 'Cognito, ClientAuthentication a second' },
} as const satisfies Record<string, QuotaName>;

export interface Quota {
  readonly value: number;
  /** Whether AWS raises the quota on request. Undefined if AWS does not say. */
  readonly isAdjustable?: boolean;
}

/** The quotas of an account in one region. A quota is undefined if AWS does not return it. */
export type AccountQuotas = Readonly<Record<keyof typeof QUOTAS, Quota | undefined>> & {
  /** The executions that functions have reserved. `executions` counts only the others. */
  readonly reservedExecutions: number;
};
