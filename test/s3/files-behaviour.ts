import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import { NotEngineCsv } from '../../lib/csv/retype-csv.ts';
import type { ResultsKey } from '../../lib/results/keys.ts';
import type { ReportFile } from '../../lib/results/results-bucket.ts';
import { freshFile, freshResult, JUST_NOW, RUN, type States } from './states.ts';
import type { S3Subject } from './subject.ts';

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

  states('writes a small file with its metadata and its encoding', async () => {
    const key = freshFile();
    const content = gzipSync('a,b\n');
    await subject().results.writeFile(key, { ...file, encoding: 'gzip' }, content);
    expect(await subject().results.readResult(locationOf(key), MIB)).toMatchObject({
      content: new Uint8Array(content),
    });
    expect(await subject().fileOf(key)).toEqual({ metadata: METADATA, encoding: 'gzip' });
  });

  states('writes no small file if the key is taken', async () => {
    const key = freshFile();
    await subject().results.writeFile(key, file, Buffer.from('first'));
    await subject().results.writeFile(key, file, Buffer.from('second'));
    expect(await textOf(subject(), key)).toBe('first');
  });

  states('uploads a file with its metadata and encoding, and returns its size', async () => {
    const key = freshFile();
    const [head, tail] = [gzipSync('a,'), gzipSync('b\n')];
    const open = async () => pieces(head, tail);
    const bytes = head.length + tail.length;
    expect(await subject().results.uploadFile(key, { ...file, encoding: 'gzip' }, open)).toBe(bytes);
    expect(await subject().results.readResult(locationOf(key), MIB)).toMatchObject({
      content: new Uint8Array(Buffer.concat([head, tail])),
    });
    expect(await subject().fileOf(key)).toEqual({ metadata: METADATA, encoding: 'gzip' });
  });

  states('uploads a large file, and reads it back byte for byte', async () => {
    const key = freshFile();
    const [one, other] = [Buffer.alloc(9 * MIB, 'a'), Buffer.alloc(9 * MIB, 'b')];
    expect(await upload(key, one, other)).toBe(18 * MIB);
    expect(await subject().results.head(key)).toEqual({ bytes: 18 * MIB, ageMs: JUST_NOW });
    expect((await textOf(subject(), key)) === Buffer.concat([one, other]).toString()).toBe(true);
    expect(await subject().fileOf(key)).toEqual({ metadata: METADATA });
  });

  for (const [size, content] of [
    ['small', Buffer.from('second')],
    ['large', Buffer.alloc(9 * MIB, 'x')],
  ] as const) {
    states(`uploads no ${size} file if the key is taken`, async () => {
      const key = freshFile();
      await upload(key, 'first');
      expect(await upload(key, content)).toBe(content.length);
      expect(await textOf(subject(), key)).toBe('first');
    });

    states(`leaves nothing of a ${size} file if its content fails half-way`, async () => {
      const key = freshFile();
      const fault = new NotEngineCsv('a quote', 4, 1);
      await expect(upload(key, content, fault)).rejects.toBe(fault);
      expect(await subject().results.head(key)).toBeUndefined();
    });
  }

  states('writes no file if there is no content to open', async () => {
    const key = freshFile();
    const open = vi.fn(async () => undefined);
    expect(await subject().results.uploadFile(key, file, open)).toBeUndefined();
    expect(open).toHaveBeenCalledTimes(1);
    expect(await subject().results.head(key)).toBeUndefined();
  });
}
