import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';

/**
 * The fields of a line of the access log. Three are left out on purpose: the path, which may hold a ticket (the route
 * has only a placeholder); the query string; and `error.message`, which quotes the whole Authorization header of a
 * request that matches no route. API Gateway does not escape values, and a quote would break the line. So no field may
 * hold a text from the caller, such as the User-Agent.
 */
export const ACCESS_LOG_FIELDS = {
  requestId: '$context.requestId',
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTimeEpoch',
  address: '$context.identity.sourceIp',
  domain: '$context.domainName',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  /** The kind of gateway response, if the gateway itself answered. */
  gatewayAnswer: '$context.error.responseType',
  firewallStatus: '$context.wafResponseCode',
  functionStatus: '$context.integration.integrationStatus',
  functionError: '$context.integration.error',
  functionMs: '$context.integration.latency',
  totalMs: '$context.responseLatency',
  bytes: '$context.responseLength',
} as const;

export const accessLogFormat = AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS));
