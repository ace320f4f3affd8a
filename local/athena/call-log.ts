/** A call to Athena. It may have been throttled or never answered. */
export interface AthenaCall {
  readonly operation: string;
  /** The time of the call, in milliseconds since 1970. */
  readonly at: number;
  /** The query that the call names. For a StartQueryExecution, it is the query that the call has started. */
  queryExecutionId?: string;
}

export interface CallLog {
  note(operation: string, input: object): AthenaCall;
  /** The latest calls, the oldest first. */
  calls(): readonly AthenaCall[];
}

const MAX_KEPT = 100_000;

export function createCallLog(): CallLog {
  let calls: AthenaCall[] = [];
  return {
    note(operation, input) {
      const call: AthenaCall = { operation, at: Date.now(), ...queryOf(input) };
      if (calls.length >= 2 * MAX_KEPT) calls = calls.slice(-MAX_KEPT);
      calls.push(call);
      return call;
    },
    calls: () => calls.slice(-MAX_KEPT),
  };
}

/** The query that a call's input or answer names. */
export const queryOf = (document: object): { queryExecutionId?: string } =>
  'QueryExecutionId' in document ? { queryExecutionId: String(document.QueryExecutionId) } : {};
