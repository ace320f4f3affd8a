import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { QueryEngine } from './query-engine.ts';
import { QueryFailure } from './query-engine.ts';
import type { StartRequest } from './start-request.ts';

export interface RunnerOptions {
  readonly engine: QueryEngine;
  /** The only database. */
  readonly database: string;
  readonly results: ResultStore;
  /**
   * The maximum number of bytes that one query may scan, like a workgroup's BytesScannedCutoffPerQuery. If left out,
   * there is no limit.
   */
  readonly bytesScannedCutoff?: number | undefined;
}

/** One run of a query, and the location of its result. */
export interface QueryRun {
  readonly id: string;
  readonly request: StartRequest;
  /** `s3://bucket/key` */
  readonly outputLocation: string;
}

/** The figures of a query that has run. */
export interface RunFigures {
  readonly bytesScanned: number;
  readonly planningMs: number;
  readonly engineMs: number;
  /** How long it took to write the result to S3. */
  readonly publishingMs: number;
}

/** Runs the query and writes its result to S3. Rejects with a QueryFailure or a QueryScanLimitExceeded. */
export type RunQuery = (run: QueryRun, signal: AbortSignal) => Promise<RunFigures>;

/** The query scanned more bytes than the workgroup allows. Athena calls such a query cancelled, not failed. */
export class QueryScanLimitExceeded extends Error {
  readonly bytesScanned: number;

  constructor(bytesScanned: number) {
    super('Bytes scanned limit was exceeded');
    this.bytesScanned = bytesScanned;
  }
}

export const queryRunner =
  ({ engine, database, results, bytesScannedCutoff = Number.POSITIVE_INFINITY }: RunnerOptions): RunQuery =>
  async ({ id, request, outputLocation }, signal) => {
    checkDatabase(request.database, database);
    const startedAt = performance.now();
    const outcome = await engine.run({ id, sql: request.sql, parameters: request.parameters, signal });
    const { csvPath, bytesScanned, planningMs } = outcome;
    const publishedFrom = performance.now();
    try {
      if (bytesScanned > bytesScannedCutoff) throw new QueryScanLimitExceeded(bytesScanned);
      signal.throwIfAborted();
      putResult(results, { csvPath, outputLocation, id });
    } finally {
      for (const path of [csvPath, `${csvPath}.metadata`]) await rm(path, { force: true });
    }
    return {
      bytesScanned,
      planningMs,
      engineMs: publishedFrom - startedAt,
      publishingMs: performance.now() - publishedFrom,
    };
  };

function checkDatabase(asked: string | undefined, database: string): void {
  if (asked === undefined)
    throw new QueryFailure('SCHEMA_NOT_FOUND', 'Schema must be specified when session schema is not set');
  if (asked !== database) throw new QueryFailure('SCHEMA_NOT_FOUND', `Schema '${asked}' does not exist`);
}

/** The store for results. */
interface ResultStore {
  /** Makes a file on the same disk an object, by moving it. Throws if it can't. */
  putFile(object: { readonly bucket: string; readonly key: string }, path: string): void;
}

/** Puts a query's result at its location, and beside it the binary `.metadata` file, as Athena does. */
function putResult(
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
