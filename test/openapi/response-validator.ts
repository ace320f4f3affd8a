/** Checks responses against docs/openapi.json with Prism's validator, which is independent of the service. */
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { validateOutput } from '@stoplight/prism-http/dist/validator/index.js';
import { requestTooLarge } from '../../lib/problems/gateway-problems.ts';
import { knownProblems, PROBLEM_MEDIA_TYPE } from '../../lib/problems/problem.ts';
import { SCOPE } from '../../local/stack.ts';

export interface SeenResponse {
  readonly method: string;
  /** The requested path, with the query if there was one. */
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const DOCUMENT = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
const operations = getHttpOperationsFromSpec(DOCUMENT);

/** The faults of a response: in its status, its headers, its media type or its body. Empty if there are none. */
export async function faultsOfResponse(response: SeenResponse): Promise<string[]> {
  const { method, path, status, headers, body } = response;
  const known = await operations;
  const pathname = path.split('?')[0] ?? '';
  const isGet = method === 'GET' || method === 'HEAD';
  const documented = isGet ? known.find((operation) => patternOf(operation.path).test(pathname)) : undefined;
  // By the document, any other path or method gets a 404. All operations that document a 404 document the same one.
  const operation = documented ?? known.find(({ responses }) => responses.some(({ code }) => code === '404'));
  if (!operation || (!documented && status !== 404)) return [`${status} on an undocumented route`];

  const resource = {
    ...operation,
    responses: operation.responses
      .filter(({ code }) => documented || code === '404')
      .map((response) => (method === 'HEAD' ? { ...response, contents: [] } : response)),
  };
  const mediaType = headers['content-type'] ?? '';
  const expected = resource.responses.find(({ code }) => code === String(status))?.contents ?? [];
  const isExpected =
    status === requestTooLarge.status
      ? mediaType === requestTooLarge.mediaType
      : expected.some((content) => isOf(content.mediaType, mediaType, status));
  const faults = method === 'HEAD' || isExpected ? [] : [`media type ${mediaType}`];
  const text = body.toString();
  const isJson = mediaType.includes('json') && text !== '';
  if (isJson && !isParseable(text)) return [...faults, 'body is not JSON'];
  const value = isJson ? JSON.parse(text) : text;
  // A schema that generators understand can't say that `status` equals the answer's status (RFC 9457, 3.1.2).
  if (status >= 400 && status !== requestTooLarge.status && isJson) {
    if (value.status !== status) faults.push(`status ${value.status} in the body`);
    if (!typesOf(status).includes(value.type)) faults.push(`type ${value.type}`);
  }
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const result = validateOutput({
    resource: resource as Parameters<typeof validateOutput>[0]['resource'],
    element: { statusCode: status, headers: named, body: value },
  });
  if ('left' in result)
    faults.push(...result.left.map(({ path = [], message }) => `${path.join('.')} ${message}`));
  return faults;
}

/**
 * Whether a media type is as the document says. For problems, the document gives a range of media types, and only its
 * text says which type applies.
 */
function isOf(documented: string, mediaType: string, status: number): boolean {
  const plain = mediaType.split(';')[0] ?? '';
  if (documented !== 'application/*') return plain === documented;
  // The firewall's 429 is `application/json`, because the firewall can't send `application/problem+json`.
  return plain === PROBLEM_MEDIA_TYPE || (status === 429 && plain === 'application/json');
}

const typesOf = (status: number): unknown[] =>
  knownProblems(SCOPE)
    .filter((problem) => problem.status === status)
    .map(({ document }) => document.type);

function isParseable(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const patternOf = (path: string) => RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/{\w+}/g, '[^/]+')}$`);
