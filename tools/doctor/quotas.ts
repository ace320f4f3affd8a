/** A quota of the account, as AWS knows it. The codes are Service Quotas' own. */
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
  /** Whether AWS raises it on request; undefined where AWS does not say. */
  readonly isAdjustable?: boolean;
}

/** The quotas of an account in one region; undefined where AWS does not tell one. */
export type AccountQuotas = Readonly<Record<keyof typeof QUOTAS, Quota | undefined>> & {
  /** The executions that functions have reserved; `executions` is what is left. */
  readonly reservedExecutions: number;
};
