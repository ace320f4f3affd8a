import { Readable } from 'node:stream';
import type { ReportFile, ResultsBucket, StoredDocument } from '../../../lib/delivery/results.ts';

interface StoredObject {
  readonly etag: string;
  readonly lastModified: number;
  readonly bytes: number;
  readonly document?: unknown;
  readonly text?: string;
  /** Of a file that was written: its bytes. */
  readonly content?: Buffer;
  readonly file?: ReportFile;
}

/** A results bucket in memory, and how a test looks into and changes it. */
export interface MemoryBucket extends ResultsBucket {
  readonly objects: Map<string, StoredObject>;
  /** Every call: `head reports/…`. */
  readonly calls: string[];
  /** Puts a document there as another process would; resolves to what a reader gets. */
  put(key: string, document: unknown): StoredDocument;
  /** Puts an engine's result there. */
  putResult(location: string, text: string, bytes?: number): void;
  document(key: string): unknown;
  /** Runs an action once, just before the next call whose text begins so; the call throws the action's error. */
  before(call: string, act: () => void): void;
}

/** Every object's key must begin with one of the bucket's prefixes. */
const KEY = /^(athena|reports|orders|tickets|publications|abandoned|shares)\/./;

/** More calls than any test needs: a guard against endless loops. */
const MAX_CALLS = 10_000;

export function memoryBucket(): MemoryBucket {
  const objects = new Map<string, StoredObject>();
  const calls: string[] = [];
  const hooks: { call: string; act: () => void }[] = [];
  let writes = 0;

  const called = (operation: string, key: string) => {
    if (!KEY.test(key)) throw new Error(`unplanned key: ${key}`);
    const call = `${operation} ${key}`;
    calls.push(call);
    if (calls.length > MAX_CALLS) throw new Error('unplanned: calls without end');
    const index = hooks.findIndex((hook) => call.startsWith(hook.call));
    if (index >= 0) for (const { act } of hooks.splice(index, 1)) act();
  };
  const write = (key: string, object: Omit<StoredObject, 'etag' | 'lastModified'>): StoredObject => {
    writes += 1;
    const stored = { ...object, etag: `"${writes}"`, lastModified: Date.now() };
    objects.set(key, stored);
    return stored;
  };
  const put = (key: string, document: unknown): StoredDocument => {
    // Stored as JSON, as in S3: what JSON can't hold is lost here too.
    const copy = JSON.parse(JSON.stringify(document));
    const { etag } = write(key, { bytes: 1, document: copy });
    return { document: copy, etag };
  };
  const keyOf = (location: string) => {
    if (!location.startsWith('s3://results/')) throw new Error(`unplanned location: ${location}`);
    return location.slice('s3://results/'.length);
  };

  return {
    objects,
    calls,
    put,
    putResult: (location, text, bytes = text.length) => void write(keyOf(location), { text, bytes }),
    document: (key) => objects.get(key)?.document,
    before: (call, act) => void hooks.push({ call, act }),
    async head(key) {
      called('head', key);
      const found = objects.get(key);
      return (
        found && {
          lastModified: found.lastModified,
          bytes: found.bytes,
          metadata: found.file?.metadata ?? {},
        }
      );
    },
    async read(key) {
      called('read', key);
      const found = objects.get(key);
      return found && { document: found.document, etag: found.etag };
    },
    async create(key, document) {
      called('create', key);
      return objects.has(key) ? undefined : put(key, document);
    },
    async replace({ etag }, key, document) {
      called('replace', key);
      return objects.get(key)?.etag === etag ? put(key, document) : undefined;
    },
    async openResult(location) {
      const key = keyOf(location);
      called('openResult', key);
      const found = objects.get(key);
      return found && { bytes: found.bytes, content: Readable.from([Buffer.from(found.text ?? '')]) };
    },
    async openFile(key) {
      called('openFile', key);
      const found = objects.get(key);
      return found && Readable.from([found.content]);
    },
    async writeOnce(key, file, open) {
      called('writeOnce', key);
      const content = await open();
      if (!content) return false;
      // Copies: the chunks are overwritten when the next one is asked for.
      const chunks: Buffer[] = [];
      for await (const chunk of content) chunks.push(Buffer.from(chunk));
      const whole = Buffer.concat(chunks);
      if (!objects.has(key))
        write(key, { text: whole.toString(), content: whole, file, bytes: whole.length });
      return true;
    },
    async presign(key, expiresInSeconds) {
      called('presign', key);
      return `https://download.example/${key}?for=${expiresInSeconds}`;
    },
  };
}
