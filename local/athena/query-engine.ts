/** A query that Athena passes to the engine. */
export interface Query {
  /** The execution's id; the engine names its files after it. */
  readonly id: string;
  readonly sql: string;
  /** SQL expressions, one for each `?` in the text. */
  readonly parameters: readonly string[];
  /** Aborted when the query has to stop. `run` then rejects soon, with any error. */
  readonly signal: AbortSignal;
}

export interface QueryOutcome {
  /**
   * The result in Athena's own dialect of CSV. The header and every value are quoted, and quotes are doubled. NULL is
   * an empty field without quotes. Each line ends with LF. The caller of `run` removes the file.
   */
  readonly csvPath: string;
  readonly bytesScanned: number;
  readonly planningMs: number;
}

/** An engine that runs queries in one database. `run` rejects with a QueryFailure if the query itself can't be run. */
export interface QueryEngine {
  /** How many queries the engine runs at a time. */
  readonly maxRunning: number;
  run(query: Query): Promise<QueryOutcome>;
}

/** An engine that the stack opens, and closes when the stack stops. */
export interface OpenedEngine extends QueryEngine {
  close(): void;
}

/** Opens an engine for one database. The engine creates `scratchDirectory` and keeps unfinished results there. */
export type OpenEngine = (options: {
  readonly database: string;
  readonly scratchDirectory: string;
}) => Promise<OpenedEngine>;

/** Wraps an engine so that at most `maxRunning` queries run on it at a time. Further queries wait. */
export function limitEngine<E extends QueryEngine>(engine: E): E {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    ...engine,
    async run(query) {
      while (running >= engine.maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
      running += 1;
      try {
        query.signal.throwIfAborted();
        return await engine.run(query);
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
  };
}
