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
}

/**
 * An engine that runs queries in one database. `run` rejects with a QueryFailure if the query itself can't be run, or
 * with a QueryScanLimitExceeded.
 */
export interface QueryEngine {
  /** How many queries the engine runs at a time. */
  readonly maxRunning: number;
  run(query: Query): Promise<QueryOutcome>;
}

/** An engine that the stack opens, and closes when the stack stops. */
interface OpenedEngine extends QueryEngine {
  close(): void;
}

/** Opens an engine for one database. The engine creates `scratchDirectory` and keeps unfinished results there. */
export type OpenEngine = (options: {
  readonly database: string;
  readonly scratchDirectory: string;
}) => Promise<OpenedEngine>;

/** The query scanned more bytes than the workgroup allows. Athena calls such a query cancelled, not failed. */
export class QueryScanLimitExceeded extends Error {
  readonly bytesScanned: number;

  constructor(bytesScanned: number) {
    super('Bytes scanned limit was exceeded');
    this.bytesScanned = bytesScanned;
  }
}

/** In Athena's catalogue of error types, types from 1000 on are the user's errors. Lower types are the system's. */
const FIRST_USER_TYPE = 1000;
const CATEGORY = { system: 1, user: 2 } as const;

/** The error types of Athena's catalogue that occur in this stand-in, by Trino's names where it has one. */
const ERROR_TYPE = {
  EXCEEDED_LOCAL_MEMORY_LIMIT: 0,
  GENERIC_INTERNAL_ERROR: 200,
  HIVE_BAD_DATA: 200,
  RESULT_WRITE_ERROR: 401,
  PERMISSION_DENIED: 1000,
  SYNTAX_ERROR: 1006,
  INVALID_PARAMETER_USAGE: 1100,
  INVALID_CAST_ARGUMENT: 1100,
  NUMERIC_VALUE_OUT_OF_RANGE: 1100,
  INVALID_FUNCTION_ARGUMENT: 1106,
  NOT_SUPPORTED: 1200,
  TABLE_NOT_FOUND: 1301,
  SCHEMA_NOT_FOUND: 1301,
  FUNCTION_NOT_FOUND: 1303,
} as const;

export type ErrorName = keyof typeof ERROR_TYPE;

/** The types of errors that the catalogue does not list. */
const OTHER_TYPE = { system: 200, user: 1000 } as const;

/** Errors after which the same query may succeed. */
const RETRYABLE: readonly string[] = ['EXCEEDED_LOCAL_MEMORY_LIMIT', 'RESULT_WRITE_ERROR'];

/** What an engine knows of an error. `fault` is used only if the catalogue does not list the error. */
interface FailureOptions extends ErrorOptions {
  readonly fault?: keyof typeof OTHER_TYPE;
  readonly retryable?: boolean;
}

/** The reason why an execution is FAILED, as Athena gives it: `SYNTAX_ERROR: …`. */
export class QueryFailure extends Error {
  readonly category: number;
  readonly type: number;
  readonly retryable: boolean;

  /** @param errorName an ErrorName, or another error name of Trino */
  constructor(errorName: string, detail: string, { fault = 'system', ...options }: FailureOptions = {}) {
    super(`${errorName}: ${detail}`, options);
    this.type = isListed(errorName) ? ERROR_TYPE[errorName] : OTHER_TYPE[fault];
    this.category = this.type < FIRST_USER_TYPE ? CATEGORY.system : CATEGORY.user;
    this.retryable = options.retryable ?? RETRYABLE.includes(errorName);
  }
}

const isListed = (name: string): name is ErrorName => Object.hasOwn(ERROR_TYPE, name);
