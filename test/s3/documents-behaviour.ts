import { expect } from 'vitest';
import type { ResultsKey } from '../../lib/results/keys.ts';
import type { StoredDocument } from '../../lib/results/results-bucket.ts';
import { freshKey, JUST_NOW, RUN, type States } from './states.ts';
import type { S3Subject } from './subject.ts';

export function describeDocuments(states: States, subject: () => S3Subject): void {
  const created = async (key: ResultsKey, document: unknown) =>
    (await subject().results.create(key, document)) as StoredDocument;

  states('gives undefined for an absent object', async () => {
    const key = freshKey();
    expect(await subject().results.head(key)).toBeUndefined();
    expect(await subject().results.read(key)).toBeUndefined();
  });

  states('gives size and age of an object', async () => {
    const key = freshKey();
    await subject().put(key, '{"ü":1}');
    expect(await subject().results.head(key)).toEqual({ bytes: 8, ageMs: JUST_NOW });
  });

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
