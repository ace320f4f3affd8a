import type { Readable } from 'node:stream';
import type { ResultsKey } from './keys.ts';

/**
 * How long an object has been there, in milliseconds, to the second. It is S3's `Date` less `LastModified` of one answer,
 * so that no other machine's clock decides.
 */
type Age = number;

export interface ObjectFacts {
  readonly ageMs: Age;
  readonly bytes: number;
}

/** A small document, and the ETag of the object that holds it. `document` is undefined if the object holds no JSON. */
export interface StoredDocument {
  readonly document: unknown;
  readonly etag: string;
  readonly ageMs: Age;
}

/** What a report's file is stored with. */
export interface ReportFile {
  /** What a browser or `curl -OJ` saves it as. */
  readonly fileName: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** How the content is encoded; clients decode it on their own. */
  readonly encoding?: 'gzip';
}

/** The query engine's result file. */
export interface EngineResult {
  readonly bytes: number;
  /** Absent where it is larger than was asked for. */
  readonly content?: Uint8Array;
}

/** The results bucket, as far as the service needs it. Nothing in it is ever written without a condition. */
export interface ResultsBucket {
  /** Undefined where there is no such object. */
  head(key: ResultsKey): Promise<ObjectFacts | undefined>;
  /** Undefined where there is no such object. */
  read(key: ResultsKey): Promise<StoredDocument | undefined>;
  /** What was written; undefined, and nothing written, where the key is taken. */
  create(key: ResultsKey, document: unknown): Promise<StoredDocument | undefined>;
  /** What was written; undefined, and nothing written, where the object is no longer what was read. */
  replace(was: StoredDocument, key: ResultsKey, document: unknown): Promise<StoredDocument | undefined>;
  /**
   * The query engine's result, whole if it is small; undefined where it is gone.
   * @param location `s3://bucket/key`
   * @param maxBytes of a content that is read
   */
  readResult(location: string, maxBytes: number): Promise<EngineResult | undefined>;
  /**
   * Writes a small file. Does nothing where the key is taken: a key names its content.
   * @param tries how often S3 is asked at most; without it, until the request's time is over
   */
  writeFile(key: ResultsKey, file: ReportFile, content: Uint8Array, tries?: number): Promise<void>;
  /** `s3://bucket/key` */
  locationOf(key: ResultsKey): string;
  /**
   * A URL from which anyone who holds it can download the object until it expires (docs/contract.md#the-redirect).
   * @param bytes of the object
   */
  presign(key: ResultsKey, expiresInSeconds: number, bytes: number): Promise<string>;
}

/** Files of any size in the results bucket: for the publishing function alone. */
export interface LargeFiles {
  /** The query engine's result, however large, piece by piece; undefined where it is gone. */
  openResult(location: string): Promise<Readable | undefined>;
  /**
   * Writes a large file in parts; it appears whole or not at all. Does nothing where the key is taken. Resolves to its
   * size in bytes; undefined, with nothing written, where there is no content.
   * @param open makes the content, again for each try
   */
  uploadFile(
    key: ResultsKey,
    file: ReportFile,
    open: () => Promise<AsyncIterable<Uint8Array> | undefined>,
  ): Promise<number | undefined>;
}
