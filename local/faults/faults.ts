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

/** A fault. docs/local.md, "Making things go wrong", says what each member does. */
const faultSchema = v.strictObject({
  on: v.picklist(['query', 'athena', 's3']),
  match: v.optional(v.string()),
  every: v.optional(count, 1),
  times: v.optional(count, Number.MAX_SAFE_INTEGER),
  delayMs: v.optional(milliseconds, 0),
  queuedMs: v.optional(milliseconds, 0),
  throttle: v.optional(v.boolean(), false),
  stall: v.optional(v.boolean(), false),
  status: v.optional(v.picklist([409, 500])),
  fail: v.optional(v.picklist(['retryable', 'final', 'cut-off'])),
  resultBytes: v.optional(count),
});

export type FaultInput = v.InferInput<typeof faultSchema>;
type Fault = v.InferOutput<typeof faultSchema>;

export type Faults = ReturnType<typeof createFaults>;

/** The faults that are set at the moment, by a test or by hand. */
export function createFaults() {
  let armed: { readonly fault: Fault; matched: number; struck: number }[] = [];
  let replaced = new AbortController();
  const matching = (on: Fault['on'], what: string) =>
    armed.filter(({ fault }) => fault.on === on && what.includes(fault.match ?? ''));
  return {
    /**
     * Replaces all faults with these. Queries and calls that the replaced faults delay go on at once. Throws a
     * ValiError if the new faults are malformed; the old ones then stay.
     */
    set(faults: readonly FaultInput[]): void {
      armed = v.parse(v.array(faultSchema), faults).map((fault) => ({ fault, matched: 0, struck: 0 }));
      replaced.abort();
      replaced = new AbortController();
    },
    /** The faults, with the numbers of queries or calls that each has matched and struck since it was set. */
    current: () => armed.map(({ fault, ...counts }) => ({ ...fault, ...counts })),
    /** How long a query stays QUEUED before other faults can strike it, in milliseconds. */
    queuedMs: (query: string) => Math.max(0, ...matching('query', query).map(({ fault }) => fault.queuedMs)),
    /**
     * Counts this query or call at each fault that matches it. Resolves, after the longest of the delays, to the faults
     * that strike it.
     */
    async strike(on: Fault['on'], what: string, signal?: AbortSignal): Promise<readonly Fault[]> {
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
