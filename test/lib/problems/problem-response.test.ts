import { describe, expect, it } from 'vitest';
import {
  type Fault,
  InvalidRequest,
  NoRecords,
  NoSuchDownload,
  NotAuthorized,
  NotFound,
  problemResponse,
  ReportTooLarge,
  Unauthenticated,
  Unavailable,
} from '../../../lib/problems/problem.ts';

const REQUEST_ID = '0b0f6c1e-2f0e-4a8e-9f6a-0d9a0a8f6f0b';
const HEADERS = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };

/** The whole answer to an error, with its body parsed. */
function answerTo(error: unknown) {
  const { body, ...rest } = problemResponse(error, REQUEST_ID, 'https://api.example');
  return { ...rest, document: JSON.parse(body) };
}

/** A document that has these members, and the type and the instance that every problem has. */
const problem = (slug: string, members: Readonly<Record<string, unknown>>) => ({
  type: `urn:problem-type:performance-reports:${slug}`,
  help: `https://api.example/docs/problems#${slug}`,
  instance: `urn:uuid:${REQUEST_ID}`,
  ...members,
});

const faults = (count: number): Fault[] =>
  Array.from({ length: count }, (_, index) => ({ parameter: `p${index}`, detail: `is wrong ${index}` }));

describe('the answer to an error', () => {
  it.each<[Error, string, string, object?, object?]>([
    [
      new ReportTooLarge(),
      '400 report-too-large: Report too large',
      'The report reads more data than one report may. Narrow the window, request fewer fields or add a filter.',
    ],
    [
      new Unauthenticated('The token has expired.'),
      '401 unauthenticated: Unauthenticated',
      'The token has expired.',
      { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    ],
    [
      new Unauthenticated('There is no token.', 'Bearer'),
      '401 unauthenticated: Unauthenticated',
      'There is no token.',
      { 'WWW-Authenticate': 'Bearer' },
    ],
    [
      new NotAuthorized('api://reports/.default', 'first-partner'),
      '401 not-authorized: Not authorized',
      'Not authorized to this endpoint.',
      { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="api://reports/.default"' },
      { scope: 'api://reports/.default' },
    ],
    [new NotFound(), '404 not-found: Not found', 'There is no such resource. Check the path and the method.'],
    [
      new NoSuchDownload(),
      '404 no-such-download: No such download',
      'There is no such download, or it has expired. Request the report again.',
    ],
    [
      new NoRecords('Publisher performance report'),
      '404 no-records: No records',
      'This service holds no records for the publisher performance report: its table is missing. The operator can add it.',
    ],
    [
      new Unavailable('Request it later.', 60),
      '503 unavailable: Service unavailable',
      'Request it later.',
      { 'Retry-After': '60' },
    ],
    [
      new Error('bucket/secret-key is gone'),
      '500 internal-error: Internal error',
      'The report could not be made. Try again; if it stays so, report the instance of this problem.',
    ],
  ])('to %s is %s', (error, named, detail, headers = {}, members = {}) => {
    const { statusCode, document, ...answer } = answerTo(error);
    const { slug, title } = /^\d+ (?<slug>[a-z-]+): (?<title>.*)$/.exec(named)?.groups ?? {};
    expect(`${statusCode} ${slug}: ${document.title}`).toBe(named);
    expect(answer).toEqual({ headers: { ...HEADERS, ...headers } });
    expect(document).toEqual(problem(String(slug), { status: statusCode, title, detail, ...members }));
  });

  it('lists every fault of a request, with the first one in the detail', () => {
    expect(answerTo(new InvalidRequest(faults(25)))).toEqual({
      statusCode: 400,
      headers: HEADERS,
      document: problem('invalid-request', {
        status: 400,
        title: 'Invalid request',
        detail: 'p0: is wrong 0 (24 more in errors)',
        errors: faults(25),
      }),
    });
  });

  it('lists the first 25 faults of a request, and says how many it leaves out', () => {
    const { document } = answerTo(new InvalidRequest(faults(27)));
    expect(document).toMatchObject({ detail: 'p0: is wrong 0 (26 more in errors)', errorsLeftOut: 2 });
    expect(document.errors).toEqual(faults(25));
  });

  it('says that the request has a fault even if the error lists none', () => {
    expect(answerTo(new InvalidRequest([])).document).toMatchObject({
      detail: 'The request has a fault.',
      errors: [],
    });
  });
});
