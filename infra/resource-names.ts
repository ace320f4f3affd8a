/** The service's name: in resource names, metrics and cost tags. */
export const SERVICE = 'performance-reports';

/** The alias by which every function is called. It points to the live release's version. */
export const LIVE_ALIAS = 'live';

/**
 * Names that operators type, and that several stacks must agree on. Each contains the stage's name, so that stages can
 * share an account.
 */
export interface ResourceNames {
  /** Name of the API, the workgroup, the firewall and the dashboard. Logs and metrics have it as their `service`. */
  readonly service: string;
  /**
   * Name of the database. It has only lower case letters, digits and underscores, so that Athena takes it without
   * quotes.
   */
  readonly database: string;
  readonly functionName: (name: string) => string;
  readonly functionLog: (name: string) => string;
  readonly accessLog: string;
  /** Name of the rule that starts the publishing function. */
  readonly publicationRule: string;
  /** Name of the dead-letter queue, for events that no function handled. */
  readonly lostEvents: string;
  /**
   * Export names of the values that other stacks read. CloudFormation refuses to change or remove a value while another
   * stack reads it.
   */
  readonly exported: (
    value: 'events-bucket' | 'results-bucket' | 'partners-bucket' | 'issuer' | 'token-url' | 'probe-client',
  ) => string;
}

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
