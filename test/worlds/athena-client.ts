import {
  type AthenaClient,
  GetQueryExecutionCommand,
  type GetQueryExecutionInput,
  type StartQueryExecutionInput,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import { answerTo } from '../athena/memory-athena.ts';
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
  const { time } = world;
  return sdkClient(world, async (command, signal, signedAt) => {
    const { input } = command as { input: Partial<GetQueryExecutionInput & StartQueryExecutionInput> };
    const { QueryExecutionId: id = '', ClientRequestToken: token = '' } = input;
    const [query, by] = [athena.queries.get(id), running.getStore()];
    if (command instanceof StopQueryExecutionCommand && by && query && !query.stopTriedBy.has(by))
      query.stopTriedBy.set(by, time.now());
    if (command instanceof GetQueryExecutionCommand && query) {
      query.asks += 1;
      if (query.endedAt === undefined) query.asksBeforeEnd += 1;
    }
    const name = `Athena ${command.constructor.name.replace('Command', '')}`;
    const operation = { name, key: id || token.slice(0, 8), takesMs: CALL_MS };
    const answer = await portCall(world, operation, signal, (by) => {
      checkClock(world, signedAt, SKEW);
      return answerTo(athena, command, by);
    });
    const { QueryExecutionId, QueryExecution } = answer ?? {};
    if (by && QueryExecutionId !== undefined) athena.queries.get(QueryExecutionId)?.heardOfBy.add(by);
    if (by && query && QueryExecution) {
      const { State: state } = QueryExecution.Status;
      const hasEnded = state !== 'QUEUED' && state !== 'RUNNING';
      if (!leads(by, query)) hasEnded && query.slotFreedFor.add(by);
      else if (hasEnded) query.toldEndTo.push({ by, at: time.now() });
      else onUnderWay(query, by, state === 'QUEUED');
    }
    return answer ?? {};
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
