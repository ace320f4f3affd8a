import { describe, expect, it } from 'vitest';
import { problemChain } from '../../../lib/http/problem-chain.ts';
import { NoSuchDownload } from '../../../lib/problems/problem.ts';
import { COMMON_HEADERS } from '../../../lib/response-headers.ts';
import { functionSetting, invoke, requestEvent } from './setting.ts';

const PARTNER = 'https://dash.partner.example';

async function answer(
  origin: string | undefined,
  { origins = PARTNER, httpMethod = 'GET', fails = false } = {},
) {
  const chain = problemChain(functionSetting({ CORS_ORIGINS: origins }).dependencies).handler(async () => {
    if (fails) throw new NoSuchDownload();
    return { statusCode: 303, headers: { Location: '/there', Vary: 'Accept-Encoding' }, body: '' };
  });
  const headers = origin === undefined ? {} : { Origin: [origin] };
  return invoke(chain, { ...requestEvent({ path: '/', headers }), httpMethod });
}

describe('pages of other origins', () => {
  it('may read an answer, also a problem, if the stage names their origin', async () => {
    expect((await answer(PARTNER, { fails: true })).headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'Access-Control-Allow-Origin': PARTNER,
    });
    const names =
      'Cache-Status, Data-Version, Deprecation, Link, Report-Empty, Retry-After, Service-Version, Sunset';
    expect((await answer(PARTNER)).headers).toEqual({
      ...{ Location: '/there', 'Service-Version': expect.any(String), ...COMMON_HEADERS },
      ...{ 'Access-Control-Allow-Origin': PARTNER, Vary: 'Accept-Encoding, Origin' },
      'Access-Control-Expose-Headers': `${names}, x-amzn-RequestId`,
    });
  });

  it('may send a token: the answer to their preflight allows it', async () => {
    const { statusCode, headers, body } = await answer(PARTNER, { httpMethod: 'OPTIONS' });
    expect({ statusCode, body }).toEqual({ statusCode: 204, body: '' });
    expect(headers).toMatchObject({
      ...{ 'Access-Control-Allow-Origin': PARTNER, 'Access-Control-Allow-Methods': 'GET, HEAD' },
      ...{ 'Access-Control-Allow-Headers': 'Authorization, Accept', 'Access-Control-Max-Age': '7200' },
      ...{ Vary: 'Origin', ...COMMON_HEADERS },
    });
  });

  it.each(['https://evil.example', `${PARTNER}.evil.example`, 'null', undefined])(
    'get an answer, but may not send a token, if their origin is %s',
    async (origin) => {
      const common = { Location: '/there', 'Service-Version': expect.any(String), ...COMMON_HEADERS };
      expect((await answer(origin)).headers).toEqual({ ...common, Vary: 'Accept-Encoding, Origin' });
      const preflight = await answer(origin, { httpMethod: 'OPTIONS' });
      expect(preflight.headers).not.toHaveProperty('Access-Control-Allow-Origin');
    },
  );

  it('do not change an answer if the stage names no origin', async () => {
    const service = { 'Service-Version': expect.any(String), ...COMMON_HEADERS };
    const silent = { Location: '/there', ...service, Vary: 'Accept-Encoding' };
    expect((await answer(PARTNER, { origins: '' })).headers).toEqual(silent);
    const preflight = await answer(PARTNER, { origins: '', httpMethod: 'OPTIONS' });
    expect(preflight).toMatchObject({ statusCode: 303, headers: silent });
  });
});
