import type { Readable } from 'node:stream';

export interface ObjectFacts {
  /** In milliseconds since 1970, to the second. */
  readonly lastModified: number;
  readonly bytes: number;
  /** What it was stored with. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** A small document, and the ETag of the object that holds it. `document` is undefined if the object holds no JSON. */
export interface StoredDocument {
  readonly document: unknown;
  readonly etag: string;
}

/** What a report's file is stored with. */
export interface ReportFile {
  /** What a browser or `curl -OJ` saves it as. */
  readonly fileName: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** How the content is encoded; clients decode it on their own. */
  readonly encoding?: 'gzip';
}

/** The query engine's result file, opened. */
export interface EngineResult {
  readonly bytes: number;
  readonly content: Readable;
}

/** The results bucket, as far as the service needs it. Nothing in it is ever written without a condition. */
export interface ResultsBucket {
  /** Undefined where there is no such object. */
  head(key: string): Promise<ObjectFacts | undefined>;
  /** Undefined where there is no such object. */
  read(key: string): Promise<StoredDocument | undefined>;
  /** What was written; undefined, and nothing written, where the key is taken. */
  create(key: string, document: unknown): Promise<StoredDocument | undefined>;
  /** What was written; undefined, and nothing written, where the object is no longer what was read. */
  replace(was: StoredDocument, key: string, document: unknown): Promise<StoredDocument | undefined>;
  /**
   * The query engine's result; undefined where it is gone.
   * @param location `s3://bucket/key`
   */
  openResult(location: string): Promise<EngineResult | undefined>;
  /** A report's file; undefined where it is gone. */
  openFile(key: string): Promise<Readable | undefined>;
  /**
   * Writes a file that appears whole or not at all. Does nothing where the key is taken: a key names its content.
   * Resolves to false, with nothing written, where there is no content.
   * @param open makes the content, anew for each try
   * @param longestTryMs of one try; without it, as long as it takes
   */
  writeOnce(
    key: string,
    file: ReportFile,
    open: () => Promise<AsyncIterable<Uint8Array> | undefined>,
    longestTryMs?: number,
  ): Promise<boolean>;
  /** A URL from which anyone who holds it can download the object until it expires (docs/contract.md#the-redirect). */
  presign(key: string, expiresInSeconds: number): Promise<string>;
}
