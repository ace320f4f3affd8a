import { once } from 'node:events';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getEncrypted } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { currentLane } from '../deployed/lane.ts';
import { expectedReport, type Question } from './expected-report.ts';
import { knownEvents } from './known-events.ts';
import { ownService, queryOf, startService } from './service.ts';

const events = knownEvents(42, 200);
const question = { fields: ['Day', 'Clicks'], start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const expected = expectedReport('publisherperformance', events.publisher_events, question);
const query = queryOf(question);
/** Claims that give access to every row: `client_id` if the stage has a register, the others if it has none. */
const EVERY_COMPANY = { client_id: 'house', publisher_companies: '*', advertiser_companies: '*' };
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** On the lane, the functions don't know the host name under which the emulator serves them. */
const helpOf = (slug: string) => expect.stringMatching(RegExp(`^(https?://[^/]+)?/docs/problems#${slug}$`));

const service = await ownService(events);

const locationOf = async () => {
  const response = await service.request('publisherperformance', query);
  return response.headers.get('location') ?? '';
};

describe('the answer to a valid request', () => {
  it('is 303 with a Location and Cache-Control: no-store', async () => {
    const response = await service.request('publisherperformance', query);
    expect(response.status).toBe(303);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(new URL(response.headers.get('location') ?? '').origin).toBe(service.stack.storageUrl);
  });

  it('has a text that says what to do but not the URL, because logs must not hold the URL', async () => {
    const response = await service.request('publisherperformance', query);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(
      'The report is ready. GET the URL in the Location header, without an Authorization header. ' +
        'Keep it to yourself: until it expires, whoever has it can download the report.\n',
    );
  });

  it('says why a report has no rows, as far as everybody may know', async () => {
    const fields = ['Day', 'DeviceOrProxy', 'Clicks'];
    const wholeDay = (day: string, next: string) => ({ start: `${day}T00:00:00Z`, end: `${next}T00:00:00Z` });
    const reasonOf = async (more: Partial<Question>) => {
      const response = await service.request(
        'publisherperformance',
        queryOf({ ...question, fields, ...more }),
      );
      const csv = await (await fetch(response.headers.get('location') ?? '')).text();
      return [csv.trimEnd().split('\n').length - 1, response.headers.get('report-empty')];
    };
    const filters = (name: string, value: string) => ({ filters: { [name]: [value] } });
    for (const _ of ['a new report', 'a stored one']) {
      expect((await reasonOf({}))[1]).toBeNull();
      expect(await reasonOf(filters('DeviceOrProxy', 'Mobile,Tablet'))).toEqual([0, 'no-match']);
      expect(await reasonOf(filters('DeviceOrProxy', 'mOBILE'))).toEqual([0, 'no-match']);
      expect(await reasonOf(filters('PublisherCompanyId', '987654321'))).toEqual([0, 'no-match']);
      expect(await reasonOf(wholeDay('2019-05-01', '2019-05-02'))).toEqual([0, 'no-records']);
      expect(await reasonOf(filters('Day', '2026-03-01T00:00:00Z'))).toEqual([0, 'outside-window']);
    }
  });

  it('has a Location that gives the CSV to a plain GET, as an attachment with a file name', async () => {
    const download = await fetch(await locationOf());
    expect(download.status).toBe(200);
    expect(download.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(download.headers.get('content-disposition')).toBe(
      'attachment; filename="publisherperformance_20260101T000000Z_20260201T000000Z.csv"',
    );
    expect(download.headers.get('content-length')).toBe(String(Buffer.byteLength(expected)));
    expect(await download.text()).toBe(expected);
  });

  it('does not depend on the encoding of brackets or on the order of the parameters', async () => {
    const filtered = { ...question, filters: { ContainerId: ['100', '101'] } };
    const expectedCsv = expectedReport('publisherperformance', events.publisher_events, filtered);
    const base = queryOf(question);
    for (const filter of [
      'filter[ContainerId]=100&filter[ContainerId]=101',
      'filter%5BContainerId%5D=101&filter%5bContainerId%5d=100',
    ]) {
      const response = await service.request('publisherperformance', `${filter}&${base}`, {
        redirect: 'follow',
      });
      expect(await response.text()).toBe(expectedCsv);
    }
  });
});

describe('the answer to a request that admits gzip', () => {
  const acceptsGzip = {
    headers: () => ({ Authorization: `Bearer ${service.token}`, 'Accept-Encoding': 'gzip' }),
  };
  const locationOfGzipped = async () => {
    const response = await service.request('publisherperformance', query, { headers: acceptsGzip.headers() });
    expect(response.status).toBe(303);
    // The deployed stage allows web pages of other origins, so its answers vary by Origin too.
    expect(response.headers.get('vary')).toBe(currentLane() ? 'Accept-Encoding, Origin' : 'Accept-Encoding');
    return response.headers.get('location') ?? '';
  };
  /** The headers and the body as sent: unlike fetch, this function does not decode the body. */
  const bytesAt = async (url: string) => {
    const get = url.startsWith('https:') ? getEncrypted : getPlain;
    const [response] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
    return { headers: response.headers, body: await buffer(response) };
  };

  it('leads to a gzipped file that decodes to the plain file, with the plain file’s name and type', async () => {
    const { headers, body } = await bytesAt(await locationOfGzipped());
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toBe(
      'attachment; filename="publisherperformance_20260101T000000Z_20260201T000000Z.csv"',
    );
    expect(gunzipSync(body).toString()).toBe(expected);
    expect(headers['x-amz-meta-query-execution-id']).toBeTruthy();
  });
});

describe('the answer to HEAD', () => {
  const head = (path: string, headers: Record<string, string> = {}) =>
    answerTo('HEAD', path, { Authorization: `Bearer ${service.token}`, ...headers });
  const get = (path: string, headers: Record<string, string> = {}) =>
    answerTo('GET', path, { Authorization: `Bearer ${service.token}`, ...headers });
  const answerTo = async (method: string, path: string, headers: Record<string, string>) => {
    const response = await fetch(service.stack.apiUrl + path, { method, headers, redirect: 'manual' });
    // These headers belong to the request or the connection, not to the answer.
    const {
      date: _date,
      connection: _connection,
      'keep-alive': _keepAlive,
      'transfer-encoding': _encoding,
      ...fields
    } = Object.fromEntries([...response.headers].filter(([name]) => !/^x-amzn?-/.test(name)));
    // The URL's signature changes every second.
    if (fields['location']) fields['location'] = fields['location'].split('?')[0] ?? '';
    return { status: response.status, fields, body: await response.text() };
  };

  it.each<[string, string, Record<string, string>?]>([
    ['a report', `/reporting/publisherperformance?${query}`],
    ['a bad request', '/reporting/publisherperformance?groupBy=Day'],
    ['no token', `/reporting/publisherperformance?${query}`, { Authorization: '' }],
    ['a download that does not exist', `/reporting/downloads/${'A'.repeat(43)}/1`],
    ['the OpenAPI document', '/openapi.json'],
    ['an unknown path', '/reporting/nothing'],
  ])('has the status and the headers of the answer to GET, but no body: %s', async (_, path, headers) => {
    await get(path, headers);
    const expected = await get(path, headers);
    expect(await head(path, headers)).toEqual({ ...expected, body: '' });
  });

  it('leads to a cached report, with which the next GET is answered', async () => {
    const path = `/reporting/publisherperformance?${queryOf({ ...question, fields: ['Clicks'] })}`;
    const cacheStatuses = [await head(path), await get(path)].map(({ fields }) => fields['cache-status']);
    expect(cacheStatuses).toEqual(['PerformanceReports; fwd=miss', 'PerformanceReports; hit']);
  });
});

describe('the answer to a bad request', () => {
  it('is one problem document that names all five faults', async () => {
    const response = await service.request(
      'publisherperformance',
      'requestedFields=Day,Click&startInclusive=2026-01-01&groupBy=Day,Clicks&filter[PlacementId]=x&api-version=2.0&endExclusive=2026-02-01T00:00:00Z',
    );
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      type: 'urn:problem-type:performance-reports:invalid-request',
      help: helpOf('invalid-request'),
      title: 'Invalid request',
      status: 400,
      detail: 'requestedFields: Unknown field "Click". Did you mean "Clicks"? (4 more in errors)',
      instance: expect.stringMatching(new RegExp(`^urn:uuid:${UUID}$`)),
      errors: [
        { parameter: 'requestedFields', detail: 'Unknown field "Click". Did you mean "Clicks"?' },
        {
          parameter: 'startInclusive',
          detail: '"2026-01-01" is not a date and time of the form YYYY-MM-DDThh:mm:ssZ.',
        },
        {
          parameter: 'groupBy',
          detail:
            '"Clicks" is a metric. Only dimensions can stand here: DateTime, Day, PlacementId, ContainerId, PublisherAccountId, PublisherCompanyId, DeviceOrProxy.',
        },
        { parameter: 'filter[PlacementId]', detail: '"x" is not an integer in decimal digits.' },
        { parameter: 'api-version', detail: '"2.0" is not supported. Supported: 1.0.' },
      ],
    });
  });

  it.each([
    ['GET', '/reporting/nothing', 404, 'not-found'],
    ['POST', '/reporting/publisherperformance', 404, 'not-found'],
    ['GET', '/reporting', 404, 'not-found'],
    ['PUT', '/a/b/c', 404, 'not-found'],
  ])('is 404 for %s %s, even with a token', async (method, path, status, slug) => {
    const headers = { Authorization: `Bearer ${service.token}` };
    const response = await fetch(service.stack.apiUrl + path, { method, headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      type: `urn:problem-type:performance-reports:${slug}`,
      status,
    });
  });

  it('is 404 if a report’s path ends with a slash', async () => {
    expect((await service.request('publisherperformance/', query)).status).toBe(404);
  });

  it.each(['%', '%z1', '%4', '100%25%'])(
    'is a 400 from the gateway itself for %s in the query',
    async (text) => {
      // The request avoids the proxy, because this answer is not the service's and has no body.
      const response = await fetch(`${service.gatewayUrl}/reporting/publisherperformance?a=${text}`);
      expect([response.status, await response.text()]).toEqual([400, '']);
    },
  );

  it('is 413 without a problem document if the request is too large for API Gateway', async () => {
    const response = await service.request(
      'publisherperformance',
      `${query}&filter[DeviceOrProxy]=${'x'.repeat(11_000)}`,
    );
    expect(response.status).toBe(413);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ message: expect.any(String) });
  });
});

describe('the answer to a caller', () => {
  const answerTo = async (authorization: string | undefined, badQuery = '') => {
    const headers: Record<string, string> =
      authorization === undefined ? {} : { Authorization: authorization };
    const response = await service.request('publisherperformance', badQuery || query, { headers });
    const { detail, scope } = (response.status === 303 ? {} : await response.json()) as {
      detail?: string;
      scope?: string;
    };
    return {
      status: response.status,
      // API Gateway renames a function's WWW-Authenticate.
      challenge: response.headers.get('x-amzn-remapped-www-authenticate'),
      detail,
      scope,
    };
  };
  const sign = async (claims: object, options?: object) =>
    `Bearer ${await service.stack.identityProvider.signToken({ ...EVERY_COMPANY, ...claims }, options)}`;
  const apiScope = () => service.stack.scope.replace('/.default', '');

  const notForHere = () => ({
    status: 401,
    challenge: `Bearer error="insufficient_scope", scope="${service.stack.scope}"`,
    detail: 'Not authorized to this endpoint.',
    scope: service.stack.scope,
  });
  const bad = {
    status: 401,
    challenge: 'Bearer error="invalid_token"',
    detail: 'The access token is invalid or has expired. Request a new one.',
  };
  const none = {
    status: 401,
    challenge: 'Bearer',
    detail: 'Send the header "Authorization: Bearer <access_token>".',
  };

  it.each<[string, () => object]>([
    ['no scope', () => ({})],
    // Any app of an Entra ID tenant can get a token with this `aud`, so `aud` must not admit a caller.
    ['the API’s name only in aud', () => ({ aud: apiScope() })],
  ])('is 401 “Not authorized to this endpoint.” if the token has %s', async (_, claims) => {
    expect(await answerTo(await sign(claims()))).toEqual(notForHere());
  });

  const scoped = () => ({ scope: service.stack.scope });
  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each<[string, () => string | Promise<string>]>([
    ['is expired', () => sign(scoped(), { expiresInSeconds: -10 })],
    [
      'is unsigned',
      () => `Bearer ${base64url({ alg: 'none', typ: 'JWT' })}.${base64url({ ...scoped(), exp: 9e9 })}.`,
    ],
  ])('is 401 if the token %s', async (_, authorization) => {
    expect(await answerTo(await authorization())).toEqual(bad);
  });

  it.each([['is missing', undefined]])('is 401 if the Authorization header %s', async (_, authorization) => {
    expect(await answerTo(authorization)).toEqual(none);
  });
});

describe('the answer while a part of the service is broken', () => {
  const opaque = {
    type: 'urn:problem-type:performance-reports:internal-error',
    help: helpOf('internal-error'),
    title: 'Internal error',
    status: 500,
    detail: 'The report could not be made. Try again; if it stays so, report the instance of this problem.',
    instance: expect.stringMatching(new RegExp(`^urn:uuid:${UUID}$`)),
  };

  it.each([
    ['the key server can’t be reached', { TOKEN_JWKS_URI: 'http://127.0.0.1:1/jwks' }],
    ['the workgroup is gone', { ATHENA_WORKGROUP: 'nowhere' }],
  ])('is a 500 without details if %s', async (_, functionEnv) => {
    const broken = await startService(knownEvents(1, 5), { functionEnv });
    try {
      const response = await broken.request('publisherperformance', query);
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual(opaque);
    } finally {
      await broken.close();
    }
  });

  it('is 502 if the function dies during the request', async () => {
    const dying = await startService(knownEvents(1, 5));
    try {
      dying.stack.faults.set([{ on: 'query', delayMs: 5_000 }]);
      const response = dying.request('publisherperformance', query);
      const queries = () => dying.stack.faults.current()[0]?.matched;
      await expect.poll(queries, { timeout: 60_000 }).toBe(1);
      await dying.stack.sandboxes.get('publisherperformance')?.kill();
      expect((await response).status).toBe(502);
      expect(await (await response).json()).toEqual({ ...opaque, status: 502 });
    } finally {
      await dying.close();
    }
  });
});
