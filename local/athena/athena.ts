import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createExecutions } from './executions.ts';
import { athenaOperations } from './operations.ts';
import { createProtocolServer } from './protocol.ts';
import { queryRunner, type RunnerOptions } from './run-query.ts';

export interface AthenaOptions extends RunnerOptions {
  /** `s3://bucket/prefix/`: where the workgroup puts results. */
  readonly resultsUri: string;
  /** The only workgroup there is. */
  readonly workgroup: string;
  /** How many queries may run at a time, if it is to be fewer than the engine carries. The others stay QUEUED. */
  readonly maxRunning?: number;
}

export interface Athena {
  readonly url: string;
  /** Stops every query and the server. The engine is left to whoever opened it. */
  close(): Promise<void>;
}

/**
 * Starts Athena's wire protocol on a free port of 127.0.0.1: StartQueryExecution, GetQueryExecution and
 * StopQueryExecution, on the engine that is passed in. Results lie in S3 before a query is SUCCEEDED.
 */
export async function startAthena(options: AthenaOptions): Promise<Athena> {
  const { engine, resultsUri, workgroup, maxRunning = engine.maxRunning } = options;
  const executions = createExecutions(queryRunner(options), resultsUri, maxRunning);
  const server = createProtocolServer(athenaOperations(executions, workgroup));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await executions.close();
    },
  };
}
