/** The service's name: in resource names, metrics and cost tags. */
export const SERVICE = 'performance-reports';

/** The alias by which every function is called. It points to the live release's version. */
export const LIVE_ALIAS = 'live';

/**
 * Names that operators type, and that several stacks must agree on. All hold the stage, so that stages can share an
 * account.
 */
export interface ResourceNames {
  /** The API, the workgroup, the firewall, the dashboard; also the `service` of logs and metrics. */
  readonly service: string;
  /** Lower case letters, digits and underscores only: Athena then takes the database's name without quotes. */
  readonly database: string;
  readonly functionName: (name: string) => string;
  readonly functionLog: (name: string) => string;
  readonly accessLog: string;
  /** The rule that starts the publishing function. */
  readonly publicationRule: string;
  /** The dead-letter queue: events that no function handled. */
  readonly lostEvents: string;
  /**
   * Export names of the values that other stacks read. CloudFormation refuses to change or remove a value while another
   * stack reads it.
   */
  readonly exported: (
    value: 'events-bucket' | 'results-bucket' | 'partners-bucket' | 'issuer' | 'token-url' | 'probe-client',
  ) => string;
}

/** The names of one stage's resources. */
export function resourceNames(stageName: string): ResourceNames {
  const service = `${SERVICE}-${stageName}`;
  const functionName = (name: string) => `${service}-${name}`;
  return {
    service,
    database: service.replaceAll('-', '_'),
    functionName,
    functionLog: (name) => `/aws/lambda/${functionName(name)}`,
    accessLog: `/aws/apigateway/${service}`,
    publicationRule: `${service}-publication-requested`,
    lostEvents: `${service}-lost-events`,
    exported: (value) => `${service}-${value}`,
  };
}
