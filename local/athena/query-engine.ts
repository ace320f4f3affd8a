/** What Athena hands to the engine behind it. */
export interface Query {
  /** The execution's id; the engine names its files after it. */
  readonly id: string;
  readonly sql: string;
  /** SQL expressions, one for each `?` in the text. */
  readonly parameters: readonly string[];
  /** Aborted when the query is to stop; `run` then rejects soon, with whatever error. */
  readonly signal: AbortSignal;
}

export interface QueryOutcome {
  /**
   * The result in Athena's own dialect of CSV: every value and the header quoted, quotes doubled, NULL an
   * unquoted empty field, LF at the end of each line. Whoever ran the query removes the file.
   */
  readonly csvPath: string;
  readonly bytesScanned: number;
  readonly planningMs: number;
}

/** An engine that runs queries in one database. Rejects with a QueryFailure if the query itself can't be run. */
export interface QueryEngine {
  /** How many queries it carries at a time. */
  readonly maxRunning: number;
  run(query: Query): Promise<QueryOutcome>;
}

/** An engine that the stack opens, and closes when the stack stops. */
export interface OpenedEngine extends QueryEngine {
  close(): void;
}

/** Opens an engine for one database, with a directory of its own for results under way; the engine makes it. */
export type OpenEngine = (options: {
  readonly database: string;
  readonly scratchDirectory: string;
}) => Promise<OpenedEngine>;
