import { writeFileSync } from 'node:fs';
import { QueryFailure } from './query-failure.ts';

/** The store for results. */
export interface ResultStore {
  /** Makes a file on the same disk an object, by moving it. Throws if it can't. */
  putFile(object: { readonly bucket: string; readonly key: string }, path: string): void;
}

/** Puts a query's result at its location, and beside it the binary `.metadata` file, as Athena does. */
export function putResult(
  results: ResultStore,
  {
    id,
    csvPath,
    outputLocation,
  }: {
    readonly id: string;
    readonly csvPath: string;
    /** `s3://bucket/key` */
    readonly outputLocation: string;
  },
): void {
  const { hostname: bucket, pathname } = new URL(outputLocation);
  const key = pathname.slice(1);
  const metadataPath = `${csvPath}.metadata`;
  try {
    writeFileSync(metadataPath, metadataOf(id));
    results.putFile({ bucket, key }, csvPath);
    results.putFile({ bucket, key: `${key}.metadata` }, metadataPath);
  } catch (cause) {
    throw new QueryFailure('RESULT_WRITE_ERROR', `Failed to write ${outputLocation}: ${cause}`, { cause });
  }
}

/** Athena's file is a Protocol Buffers message that begins with the query's id as field 1. */
const metadataOf = (id: string): Buffer => Buffer.concat([Buffer.from([0x0a, id.length]), Buffer.from(id)]);
