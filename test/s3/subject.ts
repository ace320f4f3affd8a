import type { Lake } from '../../lib/lake/lake.ts';
import type { LargeFiles, ResultsBucket } from '../../lib/results/results-bucket.ts';
import type { StoredFile } from './memory-s3.ts';

/** A bucket of S3, real or not, with the service's interfaces, and the direct access that a test needs. */
export interface S3Subject {
  readonly results: ResultsBucket & LargeFiles;
  put(key: string, content: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
  /** The metadata and the encoding that a report's file is stored with. */
  fileOf(key: string): Promise<Omit<StoredFile, 'fileName'>>;
  close(): Promise<void>;
}

/** A bucket behind HTTP. */
export interface WireSubject extends S3Subject {
  /** The lake under a prefix of the same bucket, listed in pages of this many objects. */
  lake(prefix: string, pageOf?: number): Lake;
}
