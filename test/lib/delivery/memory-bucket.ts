import { Readable } from 'node:stream';
import type { LargeFiles, ReportFile, ResultsBucket, StoredDocument } from '../../../lib/delivery/results.ts';
import { type AwsClock, ageOf, awsClock } from './aws-clock.ts';

interface StoredObject {
  readonly etag: string;
  /** By S3's clock. */
  readonly lastModified: number;
  readonly bytes: number;
  readonly document?: unknown;
  readonly text?: string;
  /** Of a file that was written: its bytes. */
  readonly content?: Buffer;
  readonly file?: ReportFile;
}

/** A results bucket in memory, and how a test looks into and changes it. */
export interface MemoryBucket extends ResultsBucket, LargeFiles {
  readonly objects: Map<string, StoredObject>;
  /** Every call: `head reports/…`. */
  readonly calls: string[];
  /** Puts a document there as another process would; resolves to what a reader gets. */
  put(key: string, document: unknown): StoredDocument;
  /** Puts an engine's result there. */
  putResult(location: string, text: string, bytes?: number): void;
  /** Puts a report's file there. */
  putFile(key: string, text: string): void;
  document(key: string): unknown;
  /** The keys of what is there that match. */
  keys(form: RegExp): string[];
  /** The calls whose text begins so. */
  callsOf(call: string): string[];
  /** Runs an action once, just before the next call whose text begins so; the call throws the action's error. */
  before(call: string, act: () => void): void;
}

/** Every object's key must begin with one of the bucket's prefixes. */
const KEY = /^(athena|reports|cached|jobs|waiting|publications|abandoned|slots)\/./;

/** What the release before has stored is read, never written. */
const FORMER_KEY = /^(orders|tickets)\/./;

/** More calls than any test needs: a guard against endless loops. */
const MAX_CALLS = 10_000;

export function memoryBucket(clock: AwsClock = awsClock()): MemoryBucket {
  const objects = new Map<string, StoredObject>();
  const calls: string[] = [];
  const hooks: { call: string; act: () => void }[] = [];
  let writes = 0;

  const called = (operation: string, key: string) => {
    if (!KEY.test(key) && !(operation === 'read' && FORMER_KEY.test(key)))
      throw new Error(`unplanned: ${operation} ${key}`);
    const call = `${operation} ${key}`;
    calls.push(call);
    if (calls.length > MAX_CALLS) throw new Error('unplanned: calls without end');
    const index = hooks.findIndex((hook) => call.startsWith(hook.call));
    if (index >= 0) for (const { act } of hooks.splice(index, 1)) act();
  };
  const write = (key: string, object: Omit<StoredObject, 'etag' | 'lastModified'>): StoredObject => {
    writes += 1;
    const stored = { ...object, etag: `"${writes}"`, lastModified: clock.now() };
    objects.set(key, stored);
    return stored;
  };
  const put = (key: string, document: unknown): StoredDocument => {
    // Stored as JSON, as in S3: what JSON can't hold is lost here too.
    const copy = JSON.parse(JSON.stringify(document));
    const { etag } = write(key, { bytes: 1, document: copy });
    return { document: copy, etag, ageMs: 0 };
  };
  const writeContent = (key: string, file: ReportFile, content: Uint8Array) => {
    // A copy: the chunks may be overwritten later.
    const whole = Buffer.from(content);
    if (!objects.has(key)) write(key, { text: whole.toString(), content: whole, file, bytes: whole.length });
  };

  return {
    objects,
    calls,
    put,
    putResult: (location, text, bytes = text.length) => void write(keyOf(location), { text, bytes }),
    putFile: (key, text) => void write(key, { text, bytes: text.length }),
    document: (key) => objects.get(key)?.document,
    keys: (form) => [...objects.keys()].filter((key) => form.test(key)),
    callsOf: (text) => calls.filter((call) => call.startsWith(text)),
    before: (call, act) => void hooks.push({ call, act }),
    async head(key) {
      called('head', key);
      const found = objects.get(key);
      return found && { ageMs: ageOf(clock, found.lastModified), bytes: found.bytes };
    },
    async read(key) {
      called('read', key);
      const found = objects.get(key);
      return found && { document: found.document, etag: found.etag, ageMs: ageOf(clock, found.lastModified) };
    },
    async create(key, document) {
      called('create', key);
      return objects.has(key) ? undefined : put(key, document);
    },
    async replace({ etag }, key, document) {
      called('replace', key);
      return objects.get(key)?.etag === etag ? put(key, document) : undefined;
    },
    async readResult(location, maxBytes) {
      const key = keyOf(location);
      called('readResult', key);
      const found = objects.get(key);
      if (!found) return undefined;
      const { bytes, text = '' } = found;
      return bytes <= maxBytes ? { bytes, content: Buffer.from(text) } : { bytes };
    },
    async openResult(location) {
      const key = keyOf(location);
      called('openResult', key);
      const found = objects.get(key);
      return found && Readable.from([Buffer.from(found.text ?? '')]);
    },
    async writeFile(key, file, content) {
      called('writeFile', key);
      writeContent(key, file, content);
    },
    async uploadFile(key, file, open) {
      called('uploadFile', key);
      const content = await open();
      if (!content) return undefined;
      const chunks: Buffer[] = [];
      for await (const chunk of content) chunks.push(Buffer.from(chunk));
      const whole = Buffer.concat(chunks);
      writeContent(key, file, whole);
      return whole.length;
    },
    locationOf: (key) => `s3://results/${key}`,
    async presign(key, expiresInSeconds) {
      called('presign', key);
      return `https://download.example/${key}?for=${expiresInSeconds}`;
    },
  };
}

function keyOf(location: string): string {
  if (!location.startsWith('s3://results/')) throw new Error(`unplanned location: ${location}`);
  return location.slice('s3://results/'.length);
}
