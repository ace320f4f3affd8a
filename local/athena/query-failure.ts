/** Athena's catalogue of error types: from 1000 on it is the user's fault, below that the system's. */
const FIRST_USER_TYPE = 1000;
const CATEGORY = { system: 1, user: 2 } as const;

/** The types of Athena's error catalogue that occur here, under Trino's names where Trino has one. */
const ERROR_TYPE = {
  EXCEEDED_LOCAL_MEMORY_LIMIT: 0,
  GENERIC_INTERNAL_ERROR: 200,
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

/** What may go well the next time. */
const RETRYABLE: ReadonlySet<ErrorName> = new Set(['EXCEEDED_LOCAL_MEMORY_LIMIT', 'RESULT_WRITE_ERROR']);

/** The reason why an execution is FAILED, as Athena gives it: `SYNTAX_ERROR: …`. */
export class QueryFailure extends Error {
  readonly category: number;
  readonly type: number;
  readonly retryable: boolean;

  constructor(errorName: ErrorName, detail: string, options?: ErrorOptions) {
    super(`${errorName}: ${detail}`, options);
    this.type = ERROR_TYPE[errorName];
    this.category = this.type < FIRST_USER_TYPE ? CATEGORY.system : CATEGORY.user;
    this.retryable = RETRYABLE.has(errorName);
  }
}
