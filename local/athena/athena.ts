import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createFaults, type Faults } from '../faults/faults.ts';
import { faultyQueries, queryText } from '../faults/faulty-queries.ts';
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
  readonly faults?: Faults;
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
  const { resultsUri, workgroup, faults = createFaults() } = options;
  const engine = faultyQueries(options.engine, faults);
  const executions = createExecutions(queryRunner({ ...options, engine }), {
    resultsUri,
    maxRunning: options.maxRunning ?? engine.maxRunning,
    queuedMs: ({ sql, parameters }) => faults.queuedMs(queryText(sql, parameters)),
  });
  const server = createProtocolServer(athenaOperations(executions, workgroup), faults);
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
