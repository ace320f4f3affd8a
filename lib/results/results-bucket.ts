import type { Readable } from 'node:stream';
import type { ResultsKey } from './keys.ts';

export interface ObjectFacts {
  /** How long ago the object was written, exact to one second: by S3's clock alone, `Date` minus `LastModified`. */
  readonly ageMs: number;
  readonly bytes: number;
}

/** A small document, and the ETag of the object that holds it. `document` is undefined if the object holds no JSON. */
export interface StoredDocument {
  readonly document: unknown;
  readonly etag: string;
  readonly ageMs: number;
}

/** What is stored with a report's file. */
export interface ReportFile {
  /** The name under which a browser or `curl -OJ` saves the file. */
  readonly fileName: string;
  readonly executionId: string;
  /** Absent if the report has no single version. */
  readonly dataVersion?: string | undefined;
  /** How the content is encoded; clients decode it by themselves. */
  readonly encoding?: 'gzip';
}

export interface EngineResult {
  readonly bytes: number;
  /** Absent if the result is larger than the `maxBytes` of `readResult`. */
  readonly content?: Uint8Array;
}

/**
 * The results bucket, with the calls that the service needs. What does not exist is undefined. Every write is
 * conditional. If the answer to the write of a document is lost, the write counts as done if the bucket holds the same
 * text: a document that several requests may write holds something random.
 */
export interface ResultsBucket {
  head(key: ResultsKey): Promise<ObjectFacts | undefined>;
  read(key: ResultsKey): Promise<StoredDocument | undefined>;
  /** Writes a new object. If the key is taken, writes nothing and resolves to undefined. */
  create(key: ResultsKey, document: unknown): Promise<StoredDocument | undefined>;
  /** Replaces an object. If it has changed since `was` was read, writes nothing and resolves to undefined. */
  replace(was: StoredDocument, key: ResultsKey, document: unknown): Promise<StoredDocument | undefined>;
  /** Reads the engine's result at `s3://bucket/key`. The content of a result larger than `maxBytes` is not read. */
  readResult(location: string, maxBytes: number): Promise<EngineResult | undefined>;
  /**
   * Writes a small file. Does nothing if the key is taken: a key's content is always the same.
   * @param tries the most tries; if absent, as many as the request's time allows
   */
  writeFile(key: ResultsKey, file: ReportFile, content: Uint8Array, tries?: number): Promise<void>;
  /** `s3://bucket/key` */
  locationOf(key: ResultsKey): string;
  /** A URL from which anyone can download the object of `bytes` until it expires (docs/contract.md#the-redirect). */
  presign(key: ResultsKey, expiresInSeconds: number, bytes: number): Promise<string>;
}

/** Files of any size in the results bucket: for the publishing function only. */
export interface LargeFiles {
  openResult(location: string): Promise<Readable | undefined>;
  /**
   * Writes a large file in parts, which appears whole or not at all. Does nothing if the key is taken. Resolves to the
   * file's size in bytes. If there is no content, writes nothing.
   * @param open opens the content; called again for each try
   */
  uploadFile(
    key: ResultsKey,
    file: ReportFile,
    open: () => Promise<AsyncIterable<Uint8Array> | undefined>,
  ): Promise<number | undefined>;
}
