import type { APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { publicHandler } from '../../lib/http/public-handler.ts';
import { knownProblems } from '../../lib/problems/problem.ts';
import { makePage } from '../../page/build-page.ts';
import { functionSetting, invoke, requestEvent } from '../lib/http/setting.ts';

const files = makePage();
const mediaTypes = { html: 'text/html; charset=utf-8', txt: 'text/plain; charset=utf-8' };
const typeOf = (name: string) => mediaTypes[name.split('.').at(-1) as 'html'] ?? 'application/octet-stream';
const byName = new Map(
  Object.entries(files).map(([name, body]) => [name, { mediaType: typeOf(name), body }]),
);

/** The answer to a request for a path below `/prod`. */
async function get(path: string, env = {}): Promise<APIGatewayProxyResult> {
  const { dependencies } = functionSetting({ ACCESS_TOKEN_ENDPOINT: 'https://id.example/?a=1&b', ...env });
  const handler = publicHandler({ ...dependencies, files: { version: 'v', byName }, downloadOrigins: [] });
  const [, folder, name] = /^\/(docs|page)\/(.+)$/.exec(path) ?? [];
  const parameter = folder === 'docs' ? 'document' : 'file';
  return invoke(handler, requestEvent({ path, ...(name && { pathParameters: { [parameter]: name } }) }));
}

const pages = Object.keys(files).filter((name) => /^docs\/.*html$/.test(name));
const pathOf = (name: string) => (name === 'docs/index.html' ? '/docs' : `/${name.replace('.html', '')}`);
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

describe('the documents that the service serves', () => {
  it('have only links that lead to a page, an anchor or a file of the service, or to the web', async () => {
    const broken: string[] = [];
    let count = 0;
    for (const page of pages) {
      const { body, statusCode } = await get(pathOf(page));
      expect(statusCode).toBe(200);
      for (const [, href = ''] of body.matchAll(/ href="([^"]+)"/g)) {
        count++;
        if (/^https:/.test(href) || ['/prod/', '/prod/openapi.json'].includes(href)) continue;
        const [path = '', anchor] = href
          .replace(/^\/prod/, '')
          .replace(/\?v=v$/, '')
          .split('#');
        const target = path === '' ? { statusCode, body } : await get(path);
        if (target.statusCode !== 200 || (anchor && !idsOf(target.body).includes(anchor)))
          broken.push(`${page}: ${href}`);
      }
    }
    expect(count).toBeGreaterThan(500);
    expect(broken).toEqual([]);
  });

  it('have an entry where the help of each problem leads', async () => {
    const ids = idsOf((await get('/docs/problems')).body);
    const help = knownProblems('scope').map(({ document }) => (document as never as { help: string }).help);
    expect(help.filter((url) => !ids.includes(url.replace('/docs/problems#', '')))).toEqual([]);
  });

  it('fill in addresses, scope, limits and contact, and leave nothing open', async () => {
    const stage = { QUERIES_PER_PARTNER: '7', ACCESS_CONTACT: 'help@reports.example', CURRENCY: 'CHF' };
    const { body } = await get('/docs', stage);
    for (const text of [
      'export API_URL=https://api.example/prod\n',
      'export TOKEN_URL=https://id.example/?a=1&#38;b\n',
      'export SCOPE=api://reports/.default\n',
      'help@reports.example',
      'at most 7 new ones are made at one time, and others wait',
      '10 minutes in the queue and 10 running',
      'six places, in CHF;',
    ])
      expect(body).toContain(text);
    const unset = (await get('/docs', { ACCESS_TOKEN_ENDPOINT: undefined })).body;
    const words = ['//your-token-endpoint', 'operator who gave', 'in one currency', 'none of your others'];
    for (const text of words) expect(unset).toContain(text);
    for (const page of [...pages.map(pathOf), '/llms.txt']) {
      const { body } = await get(page);
      expect(body).not.toMatch(/{{\w+}}|127\.0\.0\.1|<script/);
      // Neither commands of the repository nor names of its documents.
      expect(body).not.toMatch(
        />(npm (run|start)|\.ci)[^<]*<\/code>(?! \(for operators\))|\.md(<\/a>| \(for)/,
      );
    }
    expect((await get('/llms.txt')).body).toMatch(/\?a=1&b by .*\(https:..api.example.prod.docs.problems\)/s);
  });
});
