import { gzipSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { gzippedKey, type ResultsKey } from '../../lib/results/keys.ts';
import { RUN, type States, type WireSubject } from './subject.ts';

/** Status and error code of an answer. */
const outcomeOf = async (response: Response) => {
  const code = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1];
  return [response.status, ...(code ? [code] : [])];
};

export function describeDownloads(states: States, subject: () => WireSubject): void {
  const KEY: ResultsKey = `reports/${RUN}/report.csv`;
  const OTHER_KEY: ResultsKey = `reports/${RUN}/other.csv`;
  const file = { fileName: 'report.csv', executionId: 'q1' };
  const presigned = async (encoding?: 'gzip') => {
    const { results } = subject();
    const key = encoding ? gzippedKey(KEY) : KEY;
    const content = encoding ? gzipSync('a,b\n') : Buffer.from('a,b\n');
    await results.writeFile(key, { ...file, ...(encoding && { encoding }) }, content);
    return new URL(await results.presign(key, 60, 24));
  };

  for (const encoding of [undefined, 'gzip'] as const)
    states(`gives any client that has its URL a file for browsers: ${encoding ?? 'plain'}`, async () => {
      const response = await fetch(await presigned(encoding));
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="report.csv"',
        'x-amz-meta-query-execution-id': 'q1',
      });
      expect(response.headers.get('content-encoding')).toBe(encoding ?? null);
      expect([response.status, await response.text()]).toEqual([200, 'a,b\n']);
    });

  for (const [change, tamper] of [
    ['another key', (url: URL) => (url.pathname = url.pathname.replace('report.csv', 'other.csv'))],
    ['a later expiry', (url: URL) => url.searchParams.set('X-Amz-Expires', '604800')],
    ['another signature', (url: URL) => url.searchParams.set('X-Amz-Signature', '0'.repeat(64))],
  ] as const)
    states(`refuses a URL with ${change}`, async () => {
      const { results } = subject();
      await results.writeFile(OTHER_KEY, file, Buffer.from('x'));
      const url = await presigned();
      expect((await fetch(url)).status).toBe(200);
      tamper(url);
      expect(await outcomeOf(await fetch(url))).toEqual([403, 'SignatureDoesNotMatch']);
    });

  for (const method of ['PUT', 'DELETE'])
    states(`refuses ${method} with a URL that is signed for GET`, async () => {
      const url = await presigned();
      // An edge in front of the bucket refuses the request with its own message, so only the status is checked.
      expect((await fetch(url, { method })).status).toBe(403);
      expect(await (await fetch(url)).text()).toBe('a,b\n');
    });

  states('refuses a URL that has expired', async () => {
    await presigned();
    const before = async (ms: number) => {
      vi.useFakeTimers({ now: Date.now() - ms, toFake: ['Date'] });
      return subject()
        .results.presign(KEY, 60, 4)
        .finally(() => vi.useRealTimers());
    };
    expect((await fetch(await before(30_000))).status).toBe(200);
    expect(await outcomeOf(await fetch(await before(62_000)))).toEqual([403, 'AccessDenied']);
  });
}

export function describeListings(states: States, subject: () => WireSubject): void {
  const window = { start: Date.parse('2026-01-02T00:00:00Z'), end: Date.parse('2026-01-04T00:00:00Z') };
  /** Keys in the order of their bytes in UTF-8, which differs from the order in UTF-16. */
  const inWindow = [
    'day=2026-01-02/a-b',
    'day=2026-01-02/a.parquet',
    'day=2026-01-02/sub/x',
    'day=2026-01-02/ü +&%<',
    'day=2026-01-02/\uffee',
    'day=2026-01-02/\u{1f4a9}',
    'day=2026-01-03/_SUCCESS',
    'day=2026-01-03/a',
  ];
  const beside = ['day=2026-01-01/z', 'day=2026-01-02', 'day=2026-01-02b/x', 'day=2026-01-04/a', 'x'];
  const filled = async (name: string, keys: readonly string[]) => {
    const prefix = `${RUN}-${name}/`;
    for (const key of keys) await subject().put(`${prefix}${publisherReport.table}/${key}`, key);
    return prefix;
  };
  const listed = async (prefix: string, pageOf?: number) => {
    const listing = await subject().lake(prefix, pageOf).list(publisherReport, window, 0);
    const folder = `${prefix}${publisherReport.table}/`;
    return { ...listing, keys: listing?.objects.map(({ key }) => key.replace(folder, '')) };
  };

  states('lists the objects of a window with ETag, size and time', async () => {
    const began = Date.now();
    const { objects = [] } = await listed(await filled('facts', ['day=2026-01-02/a', 'day=2026-01-02/ü']));
    expect(objects.map(({ bytes }) => bytes)).toEqual([16, 17]);
    for (const { etag, lastModified } of objects) {
      expect(etag).toMatch(/^".+"$/);
      // The clock of the store may be a little wrong.
      expect(Math.abs(lastModified - began)).toBeLessThan(60_000);
    }
    expect(new Set(objects.map(({ etag }) => etag)).size).toBe(2);
  });

  states('gives in a listing the time of each object in whole seconds', async () => {
    const keys = ['day=2026-01-02/a', 'day=2026-01-02/b', 'day=2026-01-02/c'];
    const { objects = [] } = await listed(await filled('times', keys));
    expect(objects.map(({ lastModified }) => lastModified % 1_000)).toEqual([0, 0, 0]);
  });

  states('lists a window’s objects in the byte order of their keys, in one page or in many', async () => {
    const prefix = await filled('pages', [...inWindow, ...beside]);
    for (const pageOf of [undefined, 1, 3]) expect((await listed(prefix, pageOf)).keys).toEqual(inWindow);
  });

  states('distinguishes a table without objects in the window from a missing table', async () => {
    const prefix = await filled('other-days', beside);
    expect(await listed(prefix)).toMatchObject({ keys: [] });
    expect((await listed(prefix)).isTableMissing).toBeUndefined();
    expect((await listed(`${RUN}-none/`)).isTableMissing).toBe(true);
  });
}
