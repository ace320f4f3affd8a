import { describe, expect, it } from 'vitest';
import type { Question } from './expected-report.ts';
import { knownEvents } from './known-events.ts';
import { ownService, queryOf, startService } from './service.ts';

const question = { fields: ['Day', 'Clicks'], start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const query = queryOf(question);
/** Claims that give access to every row: `client_id` if the stage has a register, the others if it has none. */
const EVERY_COMPANY = { client_id: 'house', publisher_companies: '*', advertiser_companies: '*' };
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** On the lane, the functions don't know the host name under which the emulator serves them. */
const helpOf = (slug: string) => expect.stringMatching(RegExp(`^(https?://[^/]+)?/docs/problems#${slug}$`));

const service = await ownService(knownEvents(42, 200));

it('the answer to a valid request says why a report has no rows, as far as everybody may know', async () => {
  const fields = ['Day', 'DeviceOrProxy', 'Clicks'];
  const reasonOf = async (more: Partial<Question>) => {
    const asked = queryOf({ ...question, fields, ...more });
    const { headers } = await service.request('publisherperformance', asked);
    const csv = await (await fetch(headers.get('location') ?? '')).text();
    return [csv.trimEnd().split('\n').length - 1, headers.get('report-empty')];
  };
  const filters = (name: string, value: string) => ({ filters: { [name]: [value] } });
  for (const _ of ['a new report', 'a stored one']) {
    expect((await reasonOf({}))[1]).toBeNull();
    expect(await reasonOf(filters('DeviceOrProxy', 'mOBILE'))).toEqual([0, 'no-match']);
    expect(await reasonOf(filters('Day', '2026-03-01T00:00:00Z'))).toEqual([0, 'outside-window']);
  }
});

const answerTo = async (method: string, path: string, more: Record<string, string> = {}) => {
  const headers = { Authorization: `Bearer ${service.token}`, ...more };
  const response = await fetch(service.stack.apiUrl + path, { method, headers, redirect: 'manual' });
  // These headers belong to the request or the connection, not to the answer.
  const other = /^(x-amzn?-.*|date|connection|keep-alive|transfer-encoding)$/;
  const fields = Object.fromEntries([...response.headers].filter(([name]) => !other.test(name)));
  // The URL's signature changes every second.
  if (fields['location']) fields['location'] = fields['location'].split('?')[0] ?? '';
  return { status: response.status, fields, body: await response.text() };
};

it.each<[string, string, Record<string, string>?]>([
  ['a report', `/reporting/publisherperformance?${query}`],
  ['the days', `/reporting/publisherperformance/days?${query.replace(/^requestedFields=.*?&/, '')}`],
  ['no token', `/reporting/publisherperformance?${query}`, { Authorization: '' }],
  ['the OpenAPI document', '/openapi.json'],
])(
  'the answer to HEAD has the status and the headers of the answer to GET, but no body: %s',
  async (_, path, headers) => {
    await answerTo('GET', path, headers);
    const expected = await answerTo('GET', path, headers);
    expect(await answerTo('HEAD', path, headers)).toEqual({ ...expected, body: '' });
  },
);

describe('the answer to a bad request', () => {
  it('is one problem document that names all faults', async () => {
    const response = await service.request(
      'publisherperformance',
      'requestedFields=Day,Click&startInclusive=2026-01-01T00:00:00Z&filter[PlacementId]=x&endExclusive=2026-02-01T00:00:00Z',
    );
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      type: 'urn:problem-type:performance-reports:invalid-request',
      help: helpOf('invalid-request'),
      title: 'Invalid request',
      status: 400,
      detail: 'requestedFields: Unknown field "Click". Did you mean "Clicks"? (2 more in errors)',
      instance: expect.stringMatching(new RegExp(`^urn:uuid:${UUID}$`)),
      errors: [
        { parameter: 'requestedFields', detail: 'Unknown field "Click". Did you mean "Clicks"?' },
        { parameter: 'filter[PlacementId]', detail: '"x" is not an integer in decimal digits.' },
        { parameter: 'api-version', detail: 'Missing: this parameter is required.' },
      ],
    });
  });

  it.each([
    ['GET', '/reporting/nothing'],
    ['POST', '/reporting/publisherperformance'],
  ])('is 404 for %s %s, even with a token', async (method, path) => {
    const headers = { Authorization: `Bearer ${service.token}` };
    const response = await fetch(service.stack.apiUrl + path, { method, headers });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const type = 'urn:problem-type:performance-reports:not-found';
    expect(await response.json()).toMatchObject({ type, status: 404 });
  });

  it('is 404 if a report’s path ends with a slash', async () => {
    expect((await service.request('publisherperformance/', query)).status).toBe(404);
  });

  it.each(['%', '%z1', '%4', '100%25%'])('is a 400 from the gateway itself for %s', async (text) => {
    // The request avoids the proxy, because this answer is not the service's and has no body.
    const response = await fetch(`${service.gatewayUrl}/reporting/publisherperformance?a=${text}`);
    expect([response.status, await response.text()]).toEqual([400, '']);
  });
});

const sign = async (claims: object) =>
  `Bearer ${await service.stack.identityProvider.signToken({ ...EVERY_COMPANY, ...claims })}`;
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const bad = {
  challenge: 'Bearer error="invalid_token"',
  detail: 'The access token is invalid or has expired. Request a new one.',
};

it.each<[string, () => Promise<string | undefined>, object]>([
  [
    'whose token has no scope',
    () => sign({}),
    {
      challenge: `Bearer error="insufficient_scope", scope="${service.stack.scope}"`,
      detail: 'Not authorized to this endpoint.',
    },
  ],
  [
    'whose token is unsigned',
    async () => {
      const claims = { scope: service.stack.scope, exp: 9e9 };
      return `Bearer ${base64url({ alg: 'none', typ: 'JWT' })}.${base64url(claims)}.`;
    },
    bad,
  ],
  [
    'without an Authorization header',
    async () => undefined,
    { challenge: 'Bearer', detail: 'Send the header "Authorization: Bearer <access_token>".' },
  ],
])('the answer is 401 for a caller %s', async (_, authorizationOf, expected) => {
  const Authorization = await authorizationOf();
  const headers: Record<string, string> = Authorization === undefined ? {} : { Authorization };
  const response = await service.request('publisherperformance', query, { headers });
  const { detail } = (await response.json()) as { detail: string };
  // API Gateway renames a function's WWW-Authenticate.
  const challenge = response.headers.get('x-amzn-remapped-www-authenticate');
  expect({ status: response.status, challenge, detail }).toEqual({ status: 401, ...expected });
});

describe('the answer while a part of the service is broken', () => {
  it('is 502 if the function dies during the request', async () => {
    const dying = await startService(knownEvents(1, 5));
    try {
      dying.stack.faults.set([{ on: 'query', delayMs: 5_000 }]);
      const response = dying.request('publisherperformance', query);
      const queries = () => dying.stack.faults.current()[0]?.matched;
      await expect.poll(queries).toBe(1);
      await dying.stack.sandboxes.get('publisherperformance')?.kill();
      expect((await response).status).toBe(502);
      expect(await (await response).json()).toEqual({
        type: 'urn:problem-type:performance-reports:internal-error',
        help: helpOf('internal-error'),
        title: 'Internal error',
        status: 502,
        detail:
          'The report could not be made. Try again; if it stays so, report the instance of this problem.',
        instance: expect.stringMatching(new RegExp(`^urn:uuid:${UUID}$`)),
      });
    } finally {
      await dying.close();
    }
  });
});
