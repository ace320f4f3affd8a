import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../lib/openapi/document.ts';
import { openApiHandler } from '../../../lib/openapi/public-handlers.ts';
import { functionSetting, invoke, requestEvent } from '../http/setting.ts';

const SCOPE = 'api://reports/.default';
const documentAt = (url: string) => JSON.stringify(openApiDocument({ url, scope: SCOPE, commit: 'unknown' }));
const ask = async (domainName?: string) => {
  const { dependencies, lines } = functionSetting();
  const event = requestEvent({ path: '/openapi.json' });
  const answer = await invoke(openApiHandler(dependencies), {
    ...event,
    requestContext: { ...event.requestContext, domainName },
  } as typeof event);
  return { answer, lines };
};

describe('GET /openapi.json', () => {
  it('gives the document with the address that the caller used; only private caches may keep it', async () => {
    const { answer, lines } = await ask('api.example');
    expect(answer.body === documentAt('https://api.example/prod')).toBe(true);
    expect({ ...answer, body: '' }).toEqual({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'private, max-age=300',
        Vary: 'Accept-Encoding',
        'Service-Version': 'unknown',
        'X-Content-Type-Options': 'nosniff',
        'Strict-Transport-Security': 'max-age=31536000',
      },
      body: '',
    });
    expect(lines).toMatchObject([{ level: 'info', facts: { status: 200 } }]);
  });

  it('gives "/" as the address when the gateway names no host', async () => {
    const { answer } = await ask();
    expect(answer.body === documentAt('/')).toBe(true);
  });
});
