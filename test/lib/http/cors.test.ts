import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../lib/config.ts';
import { problemChain } from '../../../lib/http/problem-chain.ts';
import type { LoggedContext } from '../../../lib/http/request-log.ts';
import { NoSuchDownload } from '../../../lib/problems/problem.ts';
import { COMMON_HEADERS } from '../../../lib/response-headers.ts';
import { LEAST_ENVIRONMENT } from '../../least-environment.ts';

const PARTNER = 'https://dash.partner.example';

async function answer(
  origin: string | undefined,
  { origins = PARTNER, httpMethod = 'GET', fails = false } = {},
) {
  const lines: unknown[] = [];
  const chain = problemChain({
    config: readConfig({ ...LEAST_ENVIRONMENT, CORS_ORIGINS: origins }),
    log: { info: (_, facts) => lines.push(facts), error: (_, facts) => lines.push(facts) },
    metrics: { addMetric: () => {}, publishStoredMetrics: () => {} } as never,
  }).handler(async () => {
    if (fails) throw new NoSuchDownload();
    return { statusCode: 303, headers: { Location: '/there', Vary: 'Accept-Encoding' }, body: '' };
  });
  const event = {
    httpMethod,
    multiValueHeaders: origin === undefined ? {} : { Origin: [origin] },
    requestContext: { requestId: 'request' },
  };
  const result = await chain(event as unknown as APIGatewayProxyEvent, {} as LoggedContext);
  return { ...(result as APIGatewayProxyResult), lines };
}

describe('pages of other origins', () => {
  it('may read an answer, also a problem, if the stage names their origin', async () => {
    expect((await answer(PARTNER, { fails: true })).headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'Access-Control-Allow-Origin': PARTNER,
    });
    expect((await answer(PARTNER)).headers).toEqual({
      Location: '/there',
      'Access-Control-Allow-Origin': PARTNER,
      'Access-Control-Expose-Headers':
        'Cache-Status, Data-Version, Deprecation, Link, Report-Empty, Retry-After, Service-Version, Sunset, x-amzn-RequestId',
      'Service-Version': expect.any(String),
      ...COMMON_HEADERS,
      Vary: 'Accept-Encoding, Origin',
    });
  });

  it('may send a token: the answer to their preflight allows it', async () => {
    const { statusCode, headers, body } = await answer(PARTNER, { httpMethod: 'OPTIONS' });
    expect({ statusCode, body }).toEqual({ statusCode: 204, body: '' });
    expect(headers).toMatchObject({
      'Access-Control-Allow-Origin': PARTNER,
      'Access-Control-Allow-Methods': 'GET, HEAD',
      'Access-Control-Allow-Headers': 'Authorization, Accept',
      'Access-Control-Max-Age': '7200',
      Vary: 'Origin',
      ...COMMON_HEADERS,
    });
  });

  it.each(['https://evil.example', `${PARTNER}.evil.example`, 'null', undefined])(
    'get an answer, but may not send a token, if their origin is %s',
    async (origin) => {
      expect((await answer(origin)).headers).toEqual({
        Location: '/there',
        'Service-Version': expect.any(String),
        ...COMMON_HEADERS,
        Vary: 'Accept-Encoding, Origin',
      });
      const preflight = await answer(origin, { httpMethod: 'OPTIONS' });
      expect(preflight.headers).not.toHaveProperty('Access-Control-Allow-Origin');
    },
  );

  it('do not change an answer if the stage names no origin', async () => {
    const silent = {
      Location: '/there',
      'Service-Version': expect.any(String),
      ...COMMON_HEADERS,
      Vary: 'Accept-Encoding',
    };
    expect((await answer(PARTNER, { origins: '' })).headers).toEqual(silent);
    const preflight = await answer(PARTNER, { origins: '', httpMethod: 'OPTIONS' });
    expect(preflight.statusCode).toBe(303);
    expect(preflight.headers).toEqual(silent);
  });
});
