import { rm } from 'node:fs/promises';
import type { QueryEngine } from './query-engine.ts';
import { QueryFailure } from './query-failure.ts';
import { putResult, type ResultStore } from './result-file.ts';
import type { StartRequest } from './start-request.ts';

export interface RunnerOptions {
  readonly engine: QueryEngine;
  /** The only database there is. */
  readonly database: string;
  readonly results: ResultStore;
  /** The most bytes that one query may scan, like a workgroup's BytesScannedCutoffPerQuery; no limit if left out. */
  readonly bytesScannedCutoff?: number | undefined;
}

/** One run of a query, and where its result goes. */
export interface QueryRun {
  readonly id: string;
  readonly request: StartRequest;
  /** `s3://bucket/key` */
  readonly outputLocation: string;
}

/** What a query cost. */
export interface RunFigures {
  readonly bytesScanned: number;
  readonly planningMs: number;
  readonly engineMs: number;
  /** How long it took to put the result to S3. */
  readonly publishingMs: number;
}

/** Runs the query and puts its result to S3. Rejects with a QueryFailure or a QueryScanLimitExceeded. */
export type RunQuery = (run: QueryRun, signal: AbortSignal) => Promise<RunFigures>;

/** The query scanned more than the workgroup allows. Athena calls that cancelled, not failed. */
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
