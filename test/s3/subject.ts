import { expect } from 'vitest';
import type { Lake } from '../../lib/lake/data-version.ts';
import type { ResultsKey } from '../../lib/results/keys.ts';
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

/** Registers one statement of the suite as a test. */
export type States = (title: string, test: () => Promise<void>) => void;

/** A part of every key. It differs in every run, because two runs may use the same bucket. */
export const RUN = Date.now().toString(36);

let keys = 0;
export const freshKey = (): ResultsKey => `jobs/${RUN}/${++keys}.json`;
export const freshFile = (): ResultsKey => `reports/${RUN}-${++keys}/report.csv`;
export const freshResult = (): ResultsKey => `athena/${RUN}-${++keys}.csv`;

/** The age of an object that was written a moment ago, on a busy machine too: S3 gives ages in whole seconds. */
export const JUST_NOW = expect.toSatisfy(
  (ageMs: number) => ageMs % 1_000 === 0 && ageMs >= 0 && ageMs < 60_000,
);
