import { describe, expect, it } from 'vitest';
import { rawRequest } from '../raw-request.ts';
import { knownEvents } from './known-events.ts';
import { ownService, queryOf } from './service.ts';

const events = knownEvents(18, 200);
const question = { fields: ['Day', 'Clicks'], start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };

const service = await ownService(events, { lastDay: async () => '2026-02-01' });

const get = (path: string, init: RequestInit = {}) => fetch(`${service.gatewayUrl}${path}`, init);

it('GET / gives a page whose files all load; the page may connect only to its own host and the download host', async () => {
  const response = await get('/');
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toContain(
    `connect-src 'self' ${service.stack.storageUrl};`,
  );
  const html = await response.text();
  expect(html).not.toMatch(/https?:\/\//);
  const links = [...html.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)];
  const loaded = links.map(([, path = '']) => path);
  const unversioned = loaded.map((path) => path.replace(/\?v=[0-9a-f]{12}$/, ''));
  expect(unversioned).toEqual(['/page/icon.svg', '/page/page.css', '/page/page.js']);
  for (const path of [...loaded, '/page/reader.js']) {
    const file = await get(path);
    expect(file.status, path).toBe(200);
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await file.text()).length).toBeGreaterThan(100);
    if (loaded.includes(path)) expect(file.headers.get('cache-control')).toContain('immutable');
  }
});

describe('the sample partners of the one-machine stack', () => {
  const PATH = '/.local/partners';

  it('are listed together with the last day that has events, and get tokens for their own rows', async () => {
    const { partners, lastDay } = (await (await get(PATH)).json()) as { partners: object[]; lastDay: string };
    expect(lastDay).toBe('2026-02-01');
    expect(partners).toContainEqual({ clientId: 'publisher-one', sees: 'publisher companies 1000' });
    expect(JSON.stringify(partners)).not.toContain('secret');

    const answer = await (await get(`${PATH}/publisher-one/token`, { method: 'POST' })).json();
    const { accessToken } = answer as { accessToken: string };
    const own = await get(
      `/reporting/publisherperformance?${queryOf({ ...question, fields: ['PublisherCompanyId'] })}`,
      { headers: { Authorization: `Bearer ${accessToken}` } },
    );
    expect(await own.text()).toBe('"PublisherCompanyId"\n1000\n');
  });

  it('are not listed if the Host header names another host', async () => {
    expect((await rawRequest(service.gatewayUrl, PATH, { Host: 'evil.example' })).status).toBe(404);
  });
});
