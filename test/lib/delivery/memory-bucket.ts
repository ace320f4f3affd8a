import { s3LargeFiles } from '../../../lib/aws/large-files.ts';
import { objectOf, s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import type { LargeFiles, ResultsBucket, StoredDocument } from '../../../lib/results/results-bucket.ts';
import { memoryClient } from '../../s3/memory-client.ts';
import { type MemoryS3, memoryS3 } from '../../s3/memory-s3.ts';

/** A results bucket in memory, with access for tests to its objects and calls. */
export interface MemoryBucket extends ResultsBucket, LargeFiles {
  readonly objects: MemoryS3['objects'];
  /** Every call, for example `head reports/…`. */
  readonly calls: string[];
  /** Puts a document into the bucket, as another process would. Returns what a reader of the document gets. */
  put(key: string, document: unknown): StoredDocument;
  /** Puts an engine's result into the bucket. */
  putResult(location: string, text: string, bytes?: number): void;
  /** Puts a report's file into the bucket. */
  putFile(key: string, text: string): void;
  document(key: string): unknown;
  /** The keys in the bucket that match `form`. */
  keys(form: RegExp): string[];
  /** The calls whose text begins with `call`. */
  callsOf(call: string): string[];
  /**
   * Runs an action once, just before the next call whose text begins with `call`. If the action throws, that call
   * throws the same error.
   */
  before(call: string, act: () => void): void;
}

/** Every object's key must begin with one of the bucket's prefixes. */
const KEY = /^(athena|reports|jobs|waiting|publications|abandoned|slots)\/./;

/** The time for all calls of a test, longer than any test lasts. A timer can't be set for more than 24 days. */
const LONG_MS = 20 * 86_400_000;

/** More calls than any test needs: a guard against endless loops. */
const MAX_CALLS = 10_000;

/** @param now S3's clock */
export function memoryBucket(now = () => Date.now()): MemoryBucket {
  const s3 = memoryS3(now);
  const calls: string[] = [];
  const hooks: { call: string; act: () => void }[] = [];

  const called = (method: string, key: string) => {
    if (!KEY.test(key)) throw new Error(`unplanned: ${method} ${key}`);
    const call = `${method} ${key}`;
    calls.push(call);
    if (calls.length > MAX_CALLS) throw new Error('unplanned: calls without end');
    const index = hooks.findIndex((hook) => call.startsWith(hook.call));
    if (index >= 0) for (const { act } of hooks.splice(index, 1)) act();
  };
  const client = memoryClient(s3);
  const until = now() + LONG_MS;
  const bucket = { ...s3ResultsBucket(client, 'results', until), ...s3LargeFiles(client, 'results', until) };
  /** A method of the bucket whose calls are noted. */
  const noted =
    <Given extends unknown[], T>(
      method: string,
      act: (...given: Given) => Promise<T>,
      keyOf: (...given: Given) => string,
    ) =>
    async (...given: Given): Promise<T> => {
      called(method, keyOf(...given));
      return act(...given);
    };
  const first = (key: string) => key;
  const keyOf = (location: string) => objectOf(location).Key;

  return {
    locationOf: bucket.locationOf,
    head: noted('head', bucket.head, first),
    read: noted('read', bucket.read, first),
    create: noted('create', bucket.create, first),
    replace: noted('replace', bucket.replace, (_, key) => key),
    readResult: noted('readResult', bucket.readResult, keyOf),
    openResult: noted('openResult', bucket.openResult, keyOf),
    writeFile: noted('writeFile', bucket.writeFile, first),
    uploadFile: noted('uploadFile', bucket.uploadFile, first),
    objects: s3.objects,
    calls,
    put(key, document) {
      const stored = s3.put(key, JSON.stringify(document));
      return { document: stored.document, etag: stored.etag, ageMs: 0 };
    },
    putResult: (location, text, bytes = text.length) => void s3.put(keyOf(location), text, { bytes }),
    putFile: (key, text) => void s3.put(key, text),
    document: (key) => s3.objects.get(key)?.document,
    keys: (form) => [...s3.objects.keys()].filter((key) => form.test(key)),
    callsOf: (text) => calls.filter((call) => call.startsWith(text)),
    before: (call, act) => void hooks.push({ call, act }),
    async presign(key, expiresInSeconds) {
      called('presign', key);
      return `https://download.example/${key}?for=${expiresInSeconds}`;
    },
  };
}
