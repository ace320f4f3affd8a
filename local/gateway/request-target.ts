/** The URL of a request line, as API Gateway reads it. */
export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether API Gateway refuses the query: it has a raw character that must be encoded, or broken encoding. */
  readonly isRefused: boolean;
}

// A percent sign without two hexadecimal digits is refused too (https://github.com/adamchainz/apig-wsgi/pull/102).
// Bytes that are not UTF-8, such as %FF, become U+FFFD and are passed on.
const REFUSED = /[|{}]|%(?![0-9a-f]{2})/i;

/**
 * Reads a query as REST APIs do: a raw `;` splits it as `&` does, and raw `|`, `{` and `}` are refused
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html).
 */
export function requestTarget(url: string | undefined): RequestTarget {
  const [target = ''] = (url ?? '').split('#', 1);
  const end = target.includes('?') ? target.indexOf('?') : target.length;
  const query = target.slice(end + 1);
  return {
    path: new URL(`http://127.0.0.1${target.slice(0, end)}`).pathname,
    query: new URLSearchParams(query.replaceAll(';', '&')),
    isRefused: REFUSED.test(query),
  };
}
