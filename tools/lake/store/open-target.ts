import { isBucket } from './bucket.ts';
import { bucketTarget } from './bucket-lake.ts';
import { folderTarget } from './folder-target.ts';
import type { LakeTarget } from './lake-target.ts';

/** Opens a lake for writing: in a bucket, `s3://…`, or in a folder. */
export const lakeTarget = (location: string): LakeTarget =>
  isBucket(location) ? bucketTarget(location) : folderTarget(location);
