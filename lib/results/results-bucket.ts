import type { Readable } from 'node:stream';
import type { ResultsKey } from './keys.ts';

/**
 * How long ago an object was written, in milliseconds, exact to one second. It is `Date` minus `LastModified` of one
 * answer of S3, so that it depends on no other clock.
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

/** File name, metadata and encoding of a report's file. */
export interface ReportFile {
  /** The name under which a browser or `curl -OJ` saves the file. */
  readonly fileName: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** How the content is encoded; clients decode it by themselves. */
  readonly encoding?: 'gzip';
}

/** A report's file as it is stored. Its metadata tell the query, and the data version if the report has one. */
export const reportFile = (
  report: {
    readonly fileName: string;
    readonly executionId: string;
    readonly dataVersion?: string | undefined;
  },
  encoding?: 'gzip',
): ReportFile => ({
  fileName: report.fileName,
  metadata: {
    'query-execution-id': report.executionId,
    ...(report.dataVersion !== undefined && { 'data-version': report.dataVersion }),
  },
  ...(encoding && { encoding }),
});

/** The query engine's result file. */
export interface EngineResult {
  readonly bytes: number;
  /** Absent if the result is larger than the `maxBytes` of `readResult`. */
  readonly content?: Uint8Array;
}

/**
 * The results bucket, with the calls that the service needs. Every write is conditional. If the answer to the write of
 * a document is lost, the write counts as done if the bucket holds the same text: a document that several requests may
 * write holds something random.
 */
export interface ResultsBucket {
  /** Resolves to undefined if there is no object with this key. */
  head(key: ResultsKey): Promise<ObjectFacts | undefined>;
  /** Resolves to undefined if there is no object with this key. */
  read(key: ResultsKey): Promise<StoredDocument | undefined>;
  /** Writes a new object. If the key is taken, writes nothing and resolves to undefined. */
  create(key: ResultsKey, document: unknown): Promise<StoredDocument | undefined>;
  /** Replaces an object. If it has changed since `was` was read, writes nothing and resolves to undefined. */
  replace(was: StoredDocument, key: ResultsKey, document: unknown): Promise<StoredDocument | undefined>;
  /**
   * Reads the engine's result, with the content if the result is small. Resolves to undefined if the result is gone.
   * @param location `s3://bucket/key`
   * @param maxBytes the content of a larger result is not read
   */
  readResult(location: string, maxBytes: number): Promise<EngineResult | undefined>;
  /**
   * Writes a small file. Does nothing if the key is taken: a key's content is always the same.
   * @param tries the most tries; if absent, tries until the request's time is over
   */
  writeFile(key: ResultsKey, file: ReportFile, content: Uint8Array, tries?: number): Promise<void>;
  /** `s3://bucket/key` */
  locationOf(key: ResultsKey): string;
  /**
   * A URL from which anyone who holds it can download the object until it expires (docs/contract.md#the-redirect).
   * @param bytes the object's size
   */
  presign(key: ResultsKey, expiresInSeconds: number, bytes: number): Promise<string>;
}

/** Files of any size in the results bucket: for the publishing function only. */
export interface LargeFiles {
  /** Opens the query engine's result, of any size, for reading. Resolves to undefined if the result is gone. */
  openResult(location: string): Promise<Readable | undefined>;
  /**
   * Writes a large file in parts. The file appears whole or not at all. Does nothing if the key is taken. Resolves to
   * the file's size in bytes. If there is no content, writes nothing and resolves to undefined.
   * @param open opens the content; called again for each try
   */
  uploadFile(
    key: ResultsKey,
    file: ReportFile,
    open: () => Promise<AsyncIterable<Uint8Array> | undefined>,
  ): Promise<number | undefined>;
}
