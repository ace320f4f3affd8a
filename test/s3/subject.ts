import type { Lake } from '../../lib/lake/lake.ts';
import type { LargeFiles, ReportFile, ResultsBucket } from '../../lib/results/results-bucket.ts';

/** A bucket of S3's, real or not, as the service has it, and what a test does beside the service. */
export interface S3Subject {
  readonly results: ResultsBucket & LargeFiles;
  put(key: string, content: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
  /** What a report's file is stored with, beside its name. */
  fileOf(key: string): Promise<Omit<ReportFile, 'fileName'>>;
  close(): Promise<void>;
}

/** One that is spoken to over HTTP. */
export interface WireSubject extends S3Subject {
  /** The lake under a prefix of the same bucket, listed in pages of this many objects. */
  lake(prefix: string, pageOf?: number): Lake;
}
