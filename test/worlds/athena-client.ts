import {
  type AthenaClient,
  GetQueryExecutionCommand,
  InvalidRequestException,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import { type Invocation, running } from './invocation.ts';
import type { EngineQuery, ModelledAthena } from './modelled-athena.ts';
import { portCall } from './port-call.ts';
import { checkClock, sdkClient } from './sdk-client.ts';
import type { World } from './world.ts';

const CALL_MS = [30, 90] as const;
/** Athena refuses a request whose time differs by more than this. */
const SKEW = { mostMs: 300_000, name: 'InvalidSignatureException', status: 400 };

/**
 * The client of Athena that one function uses.
 *
 * @param onUnderWay called when a function learns that a query has not ended
 */
export function athenaClient(
  world: World,
  athena: ModelledAthena,
  onUnderWay: (query: EngineQuery, by: Invocation, isQueued: boolean) => void,
): AthenaClient {
  return sdkClient(world, async (command, signal, signedAt) => {
    const made = <T>(name: string, key: string, effect: (by: Invocation) => T): Promise<T> =>
      portCall(world, { name: `Athena ${name}`, key, takesMs: CALL_MS }, signal, (by) => {
        checkClock(world, signedAt, SKEW);
        return effect(by);
      });
    if (command instanceof StartQueryExecutionCommand) {
      const {
        QueryString: sql = '',
        ExecutionParameters: parameters = [],
        ClientRequestToken = '',
      } = command.input;
      const key = ClientRequestToken.slice(0, 8);
      const id = await made('StartQueryExecution', key, (by) =>
        athena.start({ sql, parameters }, ClientRequestToken, by),
      );
      const started = athena.queries.get(id);
      const caller = running.getStore();
      if (started && caller) started.heardOfBy.add(caller);
      return { QueryExecutionId: id };
    }
    const id = (command as GetQueryExecutionCommand | StopQueryExecutionCommand).input.QueryExecutionId ?? '';
    const query = athena.queries.get(id);
    const by = running.getStore();
    if (command instanceof StopQueryExecutionCommand) {
      if (by && query && !query.stopTriedBy.has(by)) query.stopTriedBy.set(by, world.time.now());
      // Athena refuses to stop a query that has ended.
      return made('StopQueryExecution', id, (by) =>
        query?.endedAt === undefined ? athena.stop(id, by) : unknown(),
      ).then(() => ({}));
    }
    if (!(command instanceof GetQueryExecutionCommand))
      throw new Error(`unplanned: ${command.constructor.name}`);
    if (query) query.asks += 1;
    const execution = await made('GetQueryExecution', id, () => athena.get(id) ?? unknown());
    const state = execution.Status.State;
    if (by && query && leads(by, query)) {
      if (state !== 'QUEUED' && state !== 'RUNNING') query.toldEndTo.push({ by, at: world.time.now() });
      else onUnderWay(query, by, state === 'QUEUED');
    }
    return { QueryExecution: execution };
  }) as unknown as AthenaClient;
}

/**
 * Whether an invocation has held the lease of a query's attempt. Anybody else asks for its partner's slot: it records
 * and stops nothing.
 */
const leads = (by: Invocation, { id, startedBy, heardOfBy }: EngineQuery): boolean =>
  startedBy === by ||
  heardOfBy.has(by) ||
  [...by.written.values()].some(
    ({ document }) => (document as { readonly executionId?: string } | undefined)?.executionId === id,
  );

function unknown(): never {
  throw new InvalidRequestException({
    message: 'QueryExecution was not found',
    AthenaErrorCode: 'QUERY_EXECUTION_NOT_FOUND',
    $metadata: { httpStatusCode: 400 },
  });
}
