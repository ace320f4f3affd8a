import { describe, expect, it } from 'vitest';
import {
  type Fault,
  InvalidRequest,
  NoRecords,
  NoSuchDownload,
  NotAuthorized,
  NotFound,
  ReportTooLarge,
  Unauthenticated,
  Unavailable,
} from '../../../lib/problems/problem.ts';
import { problemResponse } from '../../../lib/problems/problem-response.ts';

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
  it.each([
    {
      error: new ReportTooLarge(),
      status: 400,
      slug: 'report-too-large',
      title: 'Report too large',
      detail:
        'The report reads more data than one report may. Narrow the window, request fewer fields or add a filter.',
    },
    {
      error: new Unauthenticated('The token has expired.'),
      status: 401,
      slug: 'unauthenticated',
      title: 'Unauthenticated',
      detail: 'The token has expired.',
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    },
    {
      error: new Unauthenticated('There is no token.', 'Bearer'),
      status: 401,
      slug: 'unauthenticated',
      title: 'Unauthenticated',
      detail: 'There is no token.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    },
    {
      error: new NotAuthorized('api://reports/.default', 'first-partner'),
      status: 401,
      slug: 'not-authorized',
      title: 'Not authorized',
      detail: 'Not authorized to this endpoint.',
      headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="api://reports/.default"' },
      members: { scope: 'api://reports/.default' },
    },
    {
      error: new NotFound(),
      status: 404,
      slug: 'not-found',
      title: 'Not found',
      detail: 'There is no such resource. Check the path and the method.',
    },
    {
      error: new NoSuchDownload(),
      status: 404,
      slug: 'no-such-download',
      title: 'No such download',
      detail: 'There is no such download, or it has expired. Request the report again.',
    },
    {
      error: new NoRecords('Publisher performance report'),
      status: 404,
      slug: 'no-records',
      title: 'No records',
      detail:
        'This service holds no records for the publisher performance report: its table is missing. The operator can add it.',
    },
    {
      error: new Unavailable('Request it later.', 60),
      status: 503,
      slug: 'unavailable',
      title: 'Service unavailable',
      detail: 'Request it later.',
      headers: { 'Retry-After': '60' },
    },
    {
      error: new Error('bucket/secret-key is gone'),
      status: 500,
      slug: 'internal-error',
      title: 'Internal error',
      detail: 'The report could not be made. Try again; if it stays so, report the instance of this problem.',
    },
  ])('is $status $slug: $detail', ({ error, status, slug, title, detail, headers = {}, members = {} }) => {
    expect(answerTo(error)).toEqual({
      statusCode: status,
      headers: { ...HEADERS, ...headers },
      document: problem(slug, { status, title, detail, ...members }),
    });
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
