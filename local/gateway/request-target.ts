/** What API Gateway makes of the URL in a request line. */
export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether the query has a character in it that API Gateway refuses unless it is percent-encoded. */
  readonly isRefused: boolean;
}

/**
 * Reads a query as REST APIs do: a raw `;` splits it as `&` does, and raw `|`, `{` and `}` are refused
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html).
 */
export function requestTarget(url: string | undefined): RequestTarget {
  const [target = ''] = (url?.startsWith('/') ? url : '/').split('#', 1);
  const end = target.includes('?') ? target.indexOf('?') : target.length;
  const query = target.slice(end + 1);
  return {
    path: new URL(`http://127.0.0.1${target.slice(0, end)}`).pathname,
    query: new URLSearchParams(query.replaceAll(';', '&')),
    isRefused: /[|{}]/.test(query),
  };
}
