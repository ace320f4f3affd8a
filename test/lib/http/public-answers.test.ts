import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { notFoundHandler } from '../../../lib/http/not-found-handler.ts';
import { readPageFiles } from '../../../lib/http/page-handler.ts';
import { describeFields, fieldsHandler } from '../../../lib/openapi/public-handlers.ts';
import { functionSetting, invoke, requestEvent } from './setting.ts';

describe('GET /reporting/fields', () => {
  it('describes the fields, and the currency, access and limits of the stage', async () => {
    const { dependencies } = functionSetting({
      CURRENCY: 'EUR',
      ACCESS_TOKEN_ENDPOINT: 'https://login.example/token',
      ACCESS_CONTACT: 'reports@example.com',
      LONGEST_QUERY_MS: '1500',
      REQUESTS_PER_SECOND: '20.25',
    });
    const { body, ...answer } = await invoke(
      fieldsHandler(dependencies),
      requestEvent({ path: '/reporting/fields' }),
    );
    const described = JSON.parse(body);
    expect(described).toEqual(JSON.parse(JSON.stringify(describeFields(dependencies.config))));
    expect(described).toMatchObject({
      currency: 'EUR',
      access: { tokenEndpoint: 'https://login.example/token', contact: 'reports@example.com' },
      limits: { longestReportSeconds: 2, requestsPerSecond: 20.25 },
    });
    expect(answer).toMatchObject({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'public, max-age=300',
        Vary: 'Accept-Encoding',
      },
    });
  });

  it('leaves out currency and access if the stage does not set them', async () => {
    const { dependencies } = functionSetting();
    const { body } = await invoke(fieldsHandler(dependencies), requestEvent({ path: '/reporting/fields' }));
    expect(Object.keys(JSON.parse(body))).toEqual([
      'apiVersions',
      'timeZone',
      'timeForm',
      'limits',
      'reports',
    ]);
  });
});

describe('a path that has no route', () => {
  it('is answered with a 404 and a problem document', async () => {
    const { dependencies } = functionSetting();
    const { statusCode, headers, body } = await invoke(
      notFoundHandler(dependencies),
      requestEvent({ path: '/nothing' }),
    );
    expect({ statusCode, headers }).toMatchObject({
      statusCode: 404,
      headers: { 'Content-Type': 'application/problem+json' },
    });
    expect(JSON.parse(body)).toMatchObject({ status: 404, title: 'Not found' });
  });
});

describe('the files of the page', () => {
  async function pageOf(files: Readonly<Record<string, string>>) {
    const directory = await mkdtemp(join(tmpdir(), 'page-files-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    return readPageFiles(directory);
  }
  const FILES = { 'b.js': 'js ü', 'a.html': 'html', 'c.css': 'css', 'd.svg': 'svg' };

  it('have the media types of their extensions; a file with another extension is left out', async () => {
    const { byName } = await pageOf({ ...FILES, 'page.js.map': 'map' });
    expect(Object.fromEntries(byName)).toEqual({
      'a.html': { mediaType: 'text/html; charset=utf-8', body: 'html' },
      'b.js': { mediaType: 'text/javascript; charset=utf-8', body: 'js ü' },
      'c.css': { mediaType: 'text/css; charset=utf-8', body: 'css' },
      'd.svg': { mediaType: 'image/svg+xml', body: 'svg' },
    });
  });

  it('have a version of twelve hexadecimal digits: a hash of their contents in the order of their names', async () => {
    const { version } = await pageOf(FILES);
    expect(version).toBe(createHash('sha256').update('htmljs ücsssvg').digest('hex').slice(0, 12));
    expect((await pageOf({ ...FILES, 'c.css': 'changed' })).version).not.toBe(version);
  });

  it('cause an error if their folder does not exist', () => {
    expect(() => readPageFiles('/nowhere')).toThrow('ENOENT');
  });
});
