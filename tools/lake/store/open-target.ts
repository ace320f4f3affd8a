import { isBucket } from './bucket.ts';
import { bucketTarget } from './bucket-target.ts';
import { folderTarget } from './folder-target.ts';
import type { LakeTarget } from './lake-target.ts';

/** Where a lake is written: a bucket, `s3://…`, or a folder. */
export const lakeTarget = (location: string): LakeTarget =>
  isBucket(location) ? bucketTarget(location) : folderTarget(location);
