/**
 * The name that API Gateway's REST APIs give to a function's header, by the header's own name in lower case
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html). Callers never see the
 * name that the function wrote.
 */
const REMAPPED: Readonly<Record<string, string>> = {
  'www-authenticate': 'x-amzn-Remapped-WWW-Authenticate',
};

/** The name under which a function's response header reaches the caller. */
export const headerAsDelivered = (name: string): string => REMAPPED[name.toLowerCase()] ?? name;
