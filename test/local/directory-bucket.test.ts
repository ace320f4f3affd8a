import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ListObjectsV2CommandInput, S3 } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { startObjectStore } from '../../local/object-store/object-store.ts';
import { ownFolder } from '../own-folder.ts';

const Bucket = 'events';
const home = await ownFolder();
await mkdir(join(home, 'events'));
const shown = { [Bucket]: join(home, 'events') };
const store = await startObjectStore({ directory: join(home, 'storage'), buckets: ['results'], shown });
const { url: endpoint, region, credentials } = store;
const s3 = new S3({ endpoint, region, credentials, requestChecksumCalculation: 'WHEN_REQUIRED' });
afterAll(async () => {
  s3.destroy();
  await store.close();
});

const pathOf = (key: string) => join(home, 'events', key);

const write = async (key: string, text = key) => {
  await mkdir(join(pathOf(key), '..'), { recursive: true });
  await writeFile(pathOf(key), text);
};

const list = (more: Partial<ListObjectsV2CommandInput>) => s3.listObjectsV2({ Bucket, ...more });
const keysOf = async (Prefix: string) => (await list({ Prefix })).Contents?.map(({ Key }) => Key) ?? [];
const entry = async (key: string) => (await list({ Prefix: key, MaxKeys: 1 })).Contents?.[0];

describe('the listing of a directory', () => {
  it('names every file and every folder, ordered by the UTF-8 bytes of their keys', async () => {
    const files = [
      ...['_SUCCESS', '.hidden', 'a.parquet', 'a-b', 'sub/x.parquet', 'sub.csv', '\uffee', '😀', 'ü +&'],
    ];
    for (const name of files) await write(`names/day=2026-01-31/${name}`);
    const expected = ['names/', ...['', 'sub/', ...files].map((name) => `names/day=2026-01-31/${name}`)];
    expected.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await keysOf('names/')).toEqual(expected);
  });

  it('gives the size, the time, and an ETag that changes with the file', async () => {
    await write('facts/file', '1234');
    await utimes(pathOf('facts/file'), 0, new Date('2026-01-31T10:30:00.789Z'));
    const first = await entry('facts/file');
    expect(first).toMatchObject({
      Size: 4,
      ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      LastModified: new Date('2026-01-31T10:30:00Z'),
    });
    await utimes(pathOf('facts/file'), 0, new Date('2026-01-31T10:30:00.790Z'));
    const touched = await entry('facts/file');
    // Another file, with the same bytes and the same time, takes its place.
    await write('facts/other', '1234');
    await utimes(pathOf('facts/other'), 0, new Date('2026-01-31T10:30:00.790Z'));
    await rename(pathOf('facts/other'), pathOf('facts/file'));
    const replaced = await entry('facts/file');
    expect(new Set([first?.ETag, touched?.ETag, replaced?.ETag]).size).toBe(3);
  });

  it('gives a folder another ETag and time even after a file was added and removed again', async () => {
    await write('trace/day=2026-01-31/kept');
    // The time is set to long ago, because two changes within one tick of the file system's clock have the same time.
    await utimes(pathOf('trace/day=2026-01-31'), 0, 0);
    const before = await list({ Prefix: 'trace/day=' });
    const again = await list({ Prefix: 'trace/day=' });
    await write('trace/day=2026-01-31/added');
    await rm(pathOf('trace/day=2026-01-31/added'));
    const after = await list({ Prefix: 'trace/day=' });

    expect(again.Contents).toEqual(before.Contents);
    expect(after.Contents?.map(({ Key }) => Key)).toEqual(before.Contents?.map(({ Key }) => Key));
    const [marker, file] = after.Contents ?? [];
    expect(marker).toMatchObject({ Key: 'trace/day=2026-01-31/', Size: 0 });
    expect(marker?.ETag).not.toBe(before.Contents?.[0]?.ETag);
    expect(marker?.LastModified).not.toEqual(before.Contents?.[0]?.LastModified);
    expect(file).toEqual(before.Contents?.[1]);
  });

  it('follows links, except a dangling link and a link to a folder that contains the link', async () => {
    await write('links/real/file');
    await symlink(pathOf('links/real'), pathOf('links/folder'));
    await symlink(pathOf('links/real/file'), pathOf('links/file'));
    await symlink(pathOf('links'), pathOf('links/loop'));
    await symlink(pathOf('links/gone'), pathOf('links/dangling'));
    const found = ['', 'file', 'folder/', 'folder/file', 'real/', 'real/file'];
    expect(await keysOf('links/')).toEqual(found.map((name) => `links/${name}`));
  });
});

describe('an object in a directory', () => {
  it('has the content of the file, and the ETag of the listing', async () => {
    await write('read/file', '0123456789');
    const { Body, ETag, ContentLength } = await s3.getObject({ Bucket, Key: 'read/file' });
    expect([await Body?.transformToString(), ContentLength]).toEqual(['0123456789', 10]);
    expect(ETag).toBe((await entry('read/file'))?.ETag);
  });

  it('does not exist under the key of a folder, or under a key that leads elsewhere', async () => {
    await write('read/file', '0123456789');
    for (const Key of ['read', 'read/none', 'read/file/', 'read//file', 'read/../read/file', '../storage/'])
      await expect(s3.getObject({ Bucket, Key })).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('cannot be written or deleted', async () => {
    await write('read/kept', 'x');
    const object = { Bucket, Key: 'read/kept' };
    for (const change of [() => s3.putObject({ ...object, Body: 'y' }), () => s3.deleteObject(object)])
      await expect(change()).rejects.toMatchObject({ name: 'AccessDenied' });
    const { Body } = await s3.getObject(object);
    expect(await Body?.transformToString()).toBe('x');
  });
});
