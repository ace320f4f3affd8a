/** A problem that the gateway sends without a function, on AWS and on one machine, in the service's form. */
export interface GatewayProblem {
  readonly responseType: string;
  readonly status: number;
  /** The last part of the problem's type URI (RFC 9457). */
  readonly slug: string;
  readonly title: string;
  readonly detail: string;
  readonly retryAfterSeconds?: number;
}

const internalError = {
  slug: 'internal-error',
  title: 'Internal error',
  detail: 'The report could not be made. Try again; if it stays so, report the instance of this problem.',
};

export const gatewayProblems = {
  // In spite of its name, this is API Gateway's answer to an unknown path or method.
  notFound: {
    responseType: 'MISSING_AUTHENTICATION_TOKEN',
    status: 404,
    slug: 'not-found',
    title: 'Not found',
    detail: 'There is no such resource. Check the path and the method.',
  },
  throttled: {
    responseType: 'THROTTLED',
    status: 429,
    slug: 'too-many-requests',
    title: 'Too many requests',
    detail: 'There are more requests than the service takes. Try again in a few seconds.',
    retryAfterSeconds: 5,
  },
  functionFailed: { ...internalError, responseType: 'INTEGRATION_FAILURE', status: 502 },
  functionTimedOut: {
    ...internalError,
    responseType: 'INTEGRATION_TIMEOUT',
    status: 504,
    detail:
      'The report was not made in time. Try again; if it stays so, report the instance of this problem.',
  },
  /** The one-machine stack has no firewall. */
  refusedByFirewall: {
    responseType: 'WAF_FILTERED',
    status: 403,
    slug: 'forbidden',
    title: 'Forbidden',
    detail: 'The firewall refused the request. If it is an honest one, report the instance of this problem.',
  },
  // The last two are API Gateway's defaults, for every case that has no answer of its own.
  unreadable: {
    responseType: 'DEFAULT_4XX',
    status: 400,
    slug: 'invalid-request',
    title: 'Invalid request',
    detail:
      'The gateway could not read the request. Check the path, the headers and the encoding of the query.',
  },
  failed: { ...internalError, responseType: 'DEFAULT_5XX', status: 500 },
} as const satisfies Record<string, GatewayProblem>;

/**
 * API Gateway's answer if the request line and the headers are too large, which can't be customised
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html). Its text is undocumented.
 */
export const requestTooLarge = {
  status: 413,
  mediaType: 'application/json',
  body: { message: 'Request Too Long' },
} as const;
