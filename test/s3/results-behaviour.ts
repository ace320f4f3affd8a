import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import { NotEngineCsv } from '../../lib/csv/retype-csv.ts';
import type { ResultsKey } from '../../lib/results/keys.ts';
import type { ReportFile, StoredDocument } from '../../lib/results/results-bucket.ts';
import { freshFile, freshKey, freshResult, JUST_NOW, RUN, type S3Subject, type States } from './subject.ts';

const MIB = 2 ** 20;
const METADATA = { 'query-execution-id': 'q1', 'data-version': 'v1' };
const file: ReportFile = { fileName: 'report.csv', executionId: 'q1', dataVersion: 'v1' };

async function* pieces(...given: (string | Buffer | Error)[]): AsyncIterable<Uint8Array> {
  for (const piece of given) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

/** The text of an object. */
async function textOf({ results }: S3Subject, key: ResultsKey): Promise<string | undefined> {
  const opened = await results.openResult(results.locationOf(key));
  return opened && text(opened);
}

export function describeDocuments(states: States, subject: () => S3Subject): void {
  const created = async (key: ResultsKey, document: unknown) =>
    (await subject().results.create(key, document)) as StoredDocument;

  states('reads a document unchanged', async () => {
    const key = freshKey();
    const written = await created(key, { a: [1, 'ü'] });
    expect(written).toEqual({ document: { a: [1, 'ü'] }, etag: expect.stringMatching(/^".+"$/), ageMs: 0 });
    expect(await subject().results.read(key)).toEqual({ ...written, ageMs: JUST_NOW });
  });

  states('lets exactly one of five simultaneous creations of a document succeed', async () => {
    const key = freshKey();
    const all = await Promise.all([1, 2, 3, 4, 5].map((a) => subject().results.create(key, { a })));
    const [winner, ...others] = all.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    expect(await subject().results.read(key)).toEqual({ ...winner, ageMs: JUST_NOW });
  });

  states('replaces a document that has not changed since it was read or written', async () => {
    const key = freshKey();
    await created(key, { a: 1 });
    const first = (await subject().results.read(key)) as StoredDocument;
    const second = (await subject().results.replace(first, key, { a: 2 })) as StoredDocument;
    const third = await subject().results.replace(second, key, { a: 3 });
    expect(third).toMatchObject({ document: { a: 3 }, ageMs: 0 });
    expect(await subject().results.read(key)).toEqual({ ...third, ageMs: JUST_NOW });
    expect(new Set([first, second, third].map((each) => each?.etag)).size).toBe(3);
  });

  states('replaces no document that is gone', async () => {
    const key = freshKey();
    const first = await created(key, { a: 1 });
    await subject().remove(key);
    expect(await subject().results.replace(first, key, { a: 9 })).toBeUndefined();
    expect(await subject().results.read(key)).toBeUndefined();
  });

  states('lets exactly one of five simultaneous replacements of a document succeed', async () => {
    const key = freshKey();
    const first = await created(key, { a: 0 });
    const all = await Promise.all([1, 2, 3, 4, 5].map((a) => subject().results.replace(first, key, { a })));
    const [winner, ...others] = all.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    expect(await subject().results.read(key)).toEqual({ ...winner, ageMs: JUST_NOW });
  });

  for (const content of ['', 'no JSON', '{"a":'])
    states(
      `reads no document from an object that is not JSON, and can replace that object: ${JSON.stringify(content)}`,
      async () => {
        const key = freshKey();
        await subject().put(key, content);
        const stored = (await subject().results.read(key)) as StoredDocument;
        expect(stored).toEqual({ document: undefined, etag: expect.any(String), ageMs: JUST_NOW });
        expect(await subject().results.replace(stored, key, { b: 1 })).toMatchObject({ document: { b: 1 } });
      },
    );

  for (const key of ['a/b//c', 'ünï cödé +&%2F?#', "it's (1)*!", '<&amp;>', 'trailing/'])
    states(`stores and finds a document under the key ${JSON.stringify(key)}`, async () => {
      const named: ResultsKey = `jobs/${RUN}/${key}`;
      const written = await created(named, { key });
      expect(await subject().results.read(named)).toEqual({ ...written, ageMs: JUST_NOW });
      expect(await subject().results.head(named)).toMatchObject({
        bytes: Buffer.byteLength(JSON.stringify({ key })),
      });
    });
}

export function describeResults(states: States, subject: () => S3Subject): void {
  const locationOf = (key: ResultsKey) => subject().results.locationOf(key);

  states('reads a result of at most the given size, and gives only the size of a larger result', async () => {
    const key = freshResult();
    await subject().put(key, 'a,ü');
    expect(await subject().results.readResult(locationOf(key), 4)).toEqual({
      bytes: 4,
      content: new Uint8Array(Buffer.from('a,ü')),
    });
    expect(await subject().results.readResult(locationOf(key), 3)).toEqual({ bytes: 4 });
  });

  states('reads an empty result', async () => {
    const key = freshResult();
    await subject().put(key, '');
    expect(await subject().results.readResult(locationOf(key), 0)).toEqual({
      bytes: 0,
      content: new Uint8Array(),
    });
    expect(await textOf(subject(), key)).toBe('');
    expect(await subject().results.head(key)).toEqual({ bytes: 0, ageMs: JUST_NOW });
  });

  states('gives undefined for a result that is gone', async () => {
    const location = locationOf(freshResult());
    expect(await subject().results.readResult(location, 9)).toBeUndefined();
    expect(await subject().results.openResult(location)).toBeUndefined();
  });

  states('finds a result at the place that the engine reports', async () => {
    await subject().put(`athena/${RUN} 1+ü.csv`, 'a,b');
    const location = subject().results.locationOf(`athena/${RUN}%201+%C3%BC.csv`);
    expect(await subject().results.readResult(location, 9)).toMatchObject({ bytes: 3 });
    const opened = await subject().results.openResult(location);
    expect(opened && (await text(opened))).toBe('a,b');
  });

  states('gives each reader its own copy of the bytes', async () => {
    const key = freshResult();
    await subject().put(key, 'a,b');
    const read = async () => (await subject().results.readResult(locationOf(key), 3))?.content;
    const [one, other] = await Promise.all([read(), read()]);
    one?.fill(0);
    for await (const piece of (await subject().results.openResult(locationOf(key))) ?? []) piece.fill(0);
    expect(Buffer.from(other ?? []).toString()).toBe('a,b');
    expect(Buffer.from((await read()) ?? []).toString()).toBe('a,b');
  });
}

export function describeFiles(states: States, subject: () => S3Subject): void {
  const locationOf = (key: ResultsKey) => subject().results.locationOf(key);
  const upload = (key: ResultsKey, ...given: Parameters<typeof pieces>) =>
    subject().results.uploadFile(key, file, async () => pieces(...given));

  type Write = (key: ResultsKey, of: ReportFile, content: Buffer) => Promise<unknown>;
  const ways: readonly [string, Write][] = [
    ['writes', (...given) => subject().results.writeFile(...given)],
    ['uploads', (key, of, content) => subject().results.uploadFile(key, of, async () => pieces(content))],
  ];
  for (const [how, write] of ways)
    states(
      `${how} a small file with its metadata and its encoding, and does not replace a file that is there`,
      async () => {
        const key = freshFile();
        const content = gzipSync('a,b\n');
        await write(key, { ...file, encoding: 'gzip' }, content);
        await write(key, file, Buffer.from('second'));
        const stored = { content: new Uint8Array(content) };
        expect(await subject().results.readResult(locationOf(key), MIB)).toMatchObject(stored);
        expect(await subject().fileOf(key)).toEqual({ metadata: METADATA, encoding: 'gzip' });
      },
    );

  states('uploads a large file, and reads it back byte for byte', async () => {
    const key = freshFile();
    const [one, other] = [Buffer.alloc(9 * MIB, 'a'), Buffer.alloc(9 * MIB, 'b')];
    expect(await upload(key, one, other)).toBe(18 * MIB);
    expect(await subject().results.head(key)).toEqual({ bytes: 18 * MIB, ageMs: JUST_NOW });
    expect((await textOf(subject(), key)) === Buffer.concat([one, other]).toString()).toBe(true);
    expect(await subject().fileOf(key)).toEqual({ metadata: METADATA });
  });

  const LARGE = Buffer.alloc(9 * MIB, 'x');
  states('uploads no large file if the key is taken', async () => {
    const key = freshFile();
    expect(await upload(key, 'first')).toBe(5);
    expect(await upload(key, LARGE)).toBe(LARGE.length);
    expect(await textOf(subject(), key)).toBe('first');
  });

  for (const content of [Buffer.from('small'), LARGE])
    states(`leaves nothing of a file of ${content.length} bytes if its content fails half-way`, async () => {
      const key = freshFile();
      const fault = new NotEngineCsv('a quote', 4, 1);
      await expect(upload(key, content, fault)).rejects.toBe(fault);
      expect(await subject().results.head(key)).toBeUndefined();
    });

  states('writes no file if there is no content to open', async () => {
    const key = freshFile();
    const open = vi.fn(async () => undefined);
    expect(await subject().results.uploadFile(key, file, open)).toBeUndefined();
    expect(open).toHaveBeenCalledTimes(1);
    expect(await subject().results.head(key)).toBeUndefined();
  });
}
