/** The service's name: in resource names, metrics and cost tags. */
export const SERVICE = 'performance-reports';

/** The alias by which every function is called. It points to the live release's version. */
export const LIVE_ALIAS = 'live';

/** Names of the values that one stack exports and others read. */
type Exported =
  | 'events-bucket'
  | 'results-bucket'
  | 'partners-bucket'
  | 'issuer'
  | 'token-url'
  | 'probe-client';

export type ResourceNames = ReturnType<typeof resourceNames>;

/**
 * Names that operators type, and that several stacks must agree on. Each contains the stage's name, so that stages can
 * share an account.
 */
export function resourceNames(stageName: string) {
  const service = `${SERVICE}-${stageName}`;
  const functionName = (name: string): string => `${service}-${name}`;
  return {
    /** Name of the API, the workgroup, the firewall and the dashboard. Logs and metrics have it as their `service`. */
    service,
    /** Name of the database: lower case letters, digits and underscores, so that Athena takes it without quotes. */
    database: service.replaceAll('-', '_'),
    functionName,
    functionLog: (name: string): string => `/aws/lambda/${functionName(name)}`,
    accessLog: `/aws/apigateway/${service}`,
    /** Name of the rule that starts the publishing function. */
    publicationRule: `${service}-publication-requested`,
    /** Name of the dead-letter queue, for events that no function handled. */
    lostEvents: `${service}-lost-events`,
    /**
     * The export name of a value that other stacks read. CloudFormation refuses to change or remove a value while
     * another stack reads it.
     */
    exported: (value: Exported): string => `${service}-${value}`,
  };
}
