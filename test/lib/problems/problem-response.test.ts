import { describe, expect, it } from 'vitest';
import * as problems from '../../../lib/problems/problem.ts';

const { InvalidRequest, NotAuthorized, problemResponse, ReportTooLarge, Unauthenticated, Unavailable } =
  problems;

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

const faults = (count: number): problems.Fault[] =>
  Array.from({ length: count }, (_, index) => ({ parameter: `p${index}`, detail: `is wrong ${index}` }));

describe('the answer to an error', () => {
  const bearer = (challenge: string) => ({ 'WWW-Authenticate': `Bearer${challenge}` });
  const invalid = bearer(' error="invalid_token"');
  const unscoped = bearer(' error="insufficient_scope", scope="api"');
  const OPAQUE =
    'The report could not be made. Try again; if it stays so, report the instance of this problem.';
  // docs/openapi.json is made of the classes and shows the words of each problem.
  it.each<[Error, number, string, string, object, object?]>([
    [new ReportTooLarge(), 400, 'report-too-large', 'Report too large', {}],
    [new Unauthenticated('Old.'), 401, 'unauthenticated', 'Unauthenticated', invalid],
    [new Unauthenticated('None.', 'Bearer'), 401, 'unauthenticated', 'Unauthenticated', bearer('')],
    [new NotAuthorized('api', 'x'), 401, 'not-authorized', 'Not authorized', unscoped, { scope: 'api' }],
    [new Unavailable('Later.', 60), 503, 'unavailable', 'Service unavailable', { 'Retry-After': '60' }],
    [new Error('secret-key is gone'), 500, 'internal-error', 'Internal error', {}, { detail: OPAQUE }],
  ])('to %s is %i %s', (error, status, slug, title, headers, members) => {
    const document = problem(slug, { status, title, detail: error.message, ...members });
    expect(answerTo(error)).toEqual({ statusCode: status, headers: { ...HEADERS, ...headers }, document });
  });

  it.each([
    [25, {}],
    [27, { errorsLeftOut: 2 }],
  ])(
    'lists at most 25 of %i faults, with the first one in the detail, and counts the rest',
    (count, more) => {
      const words = { title: 'Invalid request', detail: `p0: is wrong 0 (${count - 1} more in errors)` };
      const document = problem('invalid-request', { status: 400, ...words, errors: faults(25), ...more });
      const answer = { statusCode: 400, headers: HEADERS, document };
      expect(answerTo(new InvalidRequest(faults(count)))).toEqual(answer);
    },
  );

  it('says that the request has a fault even if the error lists none', () => {
    const { document } = answerTo(new InvalidRequest([]));
    expect(document).toMatchObject({ detail: 'The request has a fault.', errors: [] });
  });
});
