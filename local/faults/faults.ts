import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { type QueryEngine, QueryFailure, QueryScanLimitExceeded } from '../athena/query-engine.ts';
import { type Listener, serve } from '../serve.ts';

const milliseconds = v.pipe(v.number(), v.integer(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(1));

const faultSchema = v.strictObject({
  /** Where the fault strikes: at queries of the engine, calls of Athena, or calls of S3. */
  on: v.picklist(['query', 'athena', 's3']),
  /**
   * The fault matches if this text occurs in the query or its parameters, in the name of Athena's operation
   * (`GetQueryExecution`), or in S3's call (`PUT reports/…`, `LIST <bucket>/<prefix>`). Without a text, it matches
   * everything.
   */
  match: v.optional(v.string()),
  /** The fault strikes every nth of the queries or calls that match. */
  every: v.optional(count, 1),
  /** The maximum number of times that the fault strikes. */
  times: v.optional(count, Number.MAX_SAFE_INTEGER),
  /** How much longer the query or call takes. */
  delayMs: v.optional(milliseconds, 0),
  /** The minimum time that a query stays QUEUED. */
  queuedMs: v.optional(milliseconds, 0),
  /** Whether the call is answered as throttled. */
  throttle: v.optional(v.boolean(), false),
  /** Whether the call gets no answer at all. */
  stall: v.optional(v.boolean(), false),
  /** The status of the answer: 500 for an error of the service, or 409 for a conflict of writes (S3 only). */
  status: v.optional(v.picklist([409, 500])),
  /**
   * How the query ends: with a failure that is worth another try, with a final failure, or cut off at the scan limit.
   */
  fail: v.optional(v.picklist(['retryable', 'final', 'cut-off'])),
  /** The result's rows are repeated until the file has at least this many bytes. */
  resultBytes: v.optional(count),
});

export type FaultInput = v.InferInput<typeof faultSchema>;
type Fault = v.InferOutput<typeof faultSchema>;

/** A fault, with the numbers of queries or calls that it has matched and struck since it was set. */
type ArmedFault = Fault & { readonly matched: number; readonly struck: number };

/** The faults that are set at the moment, by a test or by hand. */
export interface Faults {
  /**
   * Replaces all faults with these. Queries and calls that the replaced faults delay go on at once. Throws a ValiError
   * if the new faults are malformed; the old ones then stay.
   */
  set(faults: readonly FaultInput[]): void;
  current(): readonly ArmedFault[];
  /**
   * Counts this query or call at each fault that matches it. Resolves, after the longest of the delays, to the faults
   * that strike it.
   */
  strike(on: Fault['on'], what: string, signal?: AbortSignal): Promise<readonly Fault[]>;
  /** How long a query stays QUEUED before other faults can strike it, in milliseconds. */
  queuedMs(query: string): number;
}

export function createFaults(): Faults {
  let armed: { readonly fault: Fault; matched: number; struck: number }[] = [];
  let replaced = new AbortController();
  const matching = (on: Fault['on'], what: string) =>
    armed.filter(({ fault }) => fault.on === on && what.includes(fault.match ?? ''));
  return {
    set(faults) {
      armed = v.parse(v.array(faultSchema), faults).map((fault) => ({ fault, matched: 0, struck: 0 }));
      replaced.abort();
      replaced = new AbortController();
    },
    current: () => armed.map(({ fault, ...counts }) => ({ ...fault, ...counts })),
    queuedMs: (query) => Math.max(0, ...matching('query', query).map(({ fault }) => fault.queuedMs)),
    async strike(on, what, signal) {
      const striking = matching(on, what).filter((entry) => {
        entry.matched += 1;
        if (entry.matched % entry.fault.every !== 0 || entry.struck >= entry.fault.times) return false;
        entry.struck += 1;
        return true;
      });
      const delayMs = Math.max(0, ...striking.map(({ fault }) => fault.delayMs));
      if (delayMs > 0) {
        const ended = AbortSignal.any([replaced.signal, ...(signal ? [signal] : [])]);
        await delay(delayMs, undefined, { signal: ended }).catch(() => signal?.throwIfAborted());
      }
      return striking.map(({ fault }) => fault);
    },
  };
}

/** Resolves once the client of a stalled call has gone, or the server was closed. */
export async function clientGone(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
}

/**
 * Serves the faults over HTTP, to set them by hand. PUT sets a JSON list, GET reads the list, and DELETE removes all
 * faults.
 */
export const startFaultControl = (faults: Faults): Promise<Listener> =>
  serve(async (request, response) => {
    try {
      if (request.method === 'PUT') faults.set((await json(request)) as FaultInput[]);
      else if (request.method === 'DELETE') faults.set([]);
      response.end(`${JSON.stringify(faults.current(), null, 2)}\n`);
    } catch (error) {
      const faulty = error instanceof v.ValiError || error instanceof SyntaxError;
      response.writeHead(faulty ? 400 : 500).end(`${error instanceof Error ? error.message : error}\n`);
    }
  });

/** The text in which a fault's `match` must occur. */
export const queryText = (sql: string, parameters: readonly string[]): string =>
  [sql, ...parameters].join('\n');

/** Wraps an engine. Its queries are delayed, fail or get larger results, as the faults say. */
export const faultyQueries = <E extends QueryEngine>(engine: E, faults: Faults): E => ({
  ...engine,
  async run(query) {
    const struck = await faults.strike('query', queryText(query.sql, query.parameters), query.signal);
    for (const { fail } of struck) {
      if (fail === 'retryable') throw new QueryFailure('EXCEEDED_LOCAL_MEMORY_LIMIT', 'made to fail');
      if (fail === 'cut-off') throw new QueryScanLimitExceeded(0);
      if (fail === 'final') throw new QueryFailure('NOT_SUPPORTED', 'made to fail');
    }
    const outcome = await engine.run(query);
    for (const { resultBytes } of struck)
      if (resultBytes) await enlarge(outcome.csvPath, resultBytes, query.signal);
    return outcome;
  },
});

const BLOCK_BYTES = 1_000_000;

/** Repeats all rows equally often, until the file has at least `bytes` bytes. */
async function enlarge(csvPath: string, bytes: number, signal: AbortSignal): Promise<void> {
  const file = await readFile(csvPath);
  const headerBytes = file.indexOf('\n') + 1;
  const rows = file.subarray(headerBytes);
  if (rows.length === 0) return;
  const block = Buffer.alloc(Math.ceil(BLOCK_BYTES / rows.length) * rows.length, rows);
  const blocks = Math.ceil((bytes - headerBytes) / block.length);
  await pipeline(
    function* () {
      yield file.subarray(0, headerBytes);
      for (let written = 0; written < blocks; written++) yield block;
    },
    createWriteStream(csvPath),
    { signal },
  );
}
