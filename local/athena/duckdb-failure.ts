import { type ErrorName, QueryFailure } from './query-failure.ts';

/**
 * DuckDB's kinds of errors, by the beginning of their messages: the binding for Node.js passes on nothing else. The
 * first kind that matches is used.
 */
const KINDS: readonly (readonly [beginning: RegExp, name: ErrorName])[] = [
  [/^Parser Error: /, 'SYNTAX_ERROR'],
  [/^Catalog Error: (?=.*\bFunction\b)/, 'FUNCTION_NOT_FOUND'],
  [/^Catalog Error: /, 'TABLE_NOT_FOUND'],
  [/^Binder Error: /, 'SYNTAX_ERROR'],
  [/^Conversion Error: /, 'INVALID_CAST_ARGUMENT'],
  [/^Out of Range Error: /, 'NUMERIC_VALUE_OUT_OF_RANGE'],
  // The views of the events throw this error.
  [/^Invalid Input Error: HIVE_BAD_DATA: /, 'HIVE_BAD_DATA'],
  [/^Invalid Input Error: /, 'INVALID_FUNCTION_ARGUMENT'],
  [/^Not implemented Error: /, 'NOT_SUPPORTED'],
  [/^Permission Error: /, 'PERMISSION_DENIED'],
  [/^Out of Memory Error: /, 'EXCEEDED_LOCAL_MEMORY_LIMIT'],
];

/** The failure that Athena would report for an error of DuckDB's, in one line. */
export function failureOf(error: Error): QueryFailure {
  if (error instanceof QueryFailure) return error;
  const [line = ''] = error.message.split('\n', 1);
  const summary = line.replace(/^Failed to extract statements: /, '');
  const kind = KINDS.find(([beginning]) => beginning.test(summary));
  if (!kind) return new QueryFailure('GENERIC_INTERNAL_ERROR', summary, { cause: error });
  const [beginning, name] = kind;
  return new QueryFailure(name, summary.replace(beginning, ''), { cause: error });
}
