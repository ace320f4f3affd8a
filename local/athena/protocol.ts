import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { clientGone, type Faults } from '../faults/faults.ts';
import { type CallRate, tokenBucket } from '../token-bucket.ts';

/** What every call passes through: injected faults, the call log and the quotas. */
export interface CallTerms {
  readonly faults: Faults;
  readonly log: CallLog;
  readonly admit: AdmitCall;
}

/** Answers one operation: JSON in, JSON out. Throws an ApiError to answer with an error. */
export type Operation = (input: unknown) => object;

const TARGET_PREFIX = 'AmazonAthena.';
const CONTENT_TYPE = 'application/x-amz-json-1.1';

/**
 * Answers AWS's JSON 1.1 protocol: `POST /` with the operation in `X-Amz-Target`. A call must be signed, but the
 * signature is not checked.
 */
export const answerProtocol =
  (operations: Readonly<Record<string, Operation>>, terms: CallTerms) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answer = await dispatch(operations, request, response, terms);
      if (answer) send(response, 200, answer);
    } catch (error) {
      sendError(response, error);
    }
  };

/** Resolves to the answer, or, if a fault stalls the call, to undefined once the client has disconnected. */
async function dispatch(
  operations: Readonly<Record<string, Operation>>,
  request: IncomingMessage,
  response: ServerResponse,
  { faults, log, admit }: CallTerms,
): Promise<object | undefined> {
  const input = await json(request).catch(() => undefined);
  if (!request.headers.authorization)
    throw new ApiError(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
  const target = String(request.headers['x-amz-target'] ?? '');
  const name = target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : '';
  const operation = Object.hasOwn(operations, name) && operations[name];
  if (!operation)
    throw new ApiError(400, 'UnknownOperationException', `there is no operation ${target} here`);
  if (typeof input !== 'object' || input === null)
    throw new ApiError(400, 'SerializationException', 'the body is not a JSON object');
  const call = log.note(name, input);
  admit(name);
  const struck = await faults.strike('athena', name);
  if (struck.some(({ stall }) => stall)) {
    await clientGone(response);
    return undefined;
  }
  if (struck.some(({ throttle }) => throttle))
    throw new ApiError(400, 'ThrottlingException', 'Rate exceeded');
  if (struck.some(({ status }) => status === 500))
    throw new ApiError(500, 'InternalServerException', 'made to fail');
  const answer = operation(input);
  Object.assign(call, queryOf(answer));
  return answer;
}

function sendError(response: ServerResponse, error: unknown): void {
  const { status, type, message, code } =
    error instanceof ApiError ? error : new ApiError(500, 'InternalServerException', String(error));
  response.setHeader('x-amzn-errortype', type);
  const reason = error instanceof TooManyQueries && error.reason;
  // Athena sends its code under two names.
  send(response, status, {
    __type: type,
    Message: message,
    ...(reason && { Reason: reason }),
    ...(code && { AthenaErrorCode: code, ErrorCode: code }),
  });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': randomUUID() });
  response.end(JSON.stringify(body));
}

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
const queryOf = (document: object): { queryExecutionId?: string } =>
  'QueryExecutionId' in document ? { queryExecutionId: String(document.QueryExecutionId) } : {};

export interface AthenaQuotas {
  /** The rate of calls, by operation. An operation that is not listed has no limit. */
  readonly calls: Readonly<Record<string, CallRate>>;
  /** How many queries may be queued or running at a time. */
  readonly activeQueries: number;
}

/**
 * The quotas of a new AWS account in us-east-1, the region that the local stack reports. The calls are from "Per
 * account API call quotas" of https://docs.aws.amazon.com/athena/latest/ug/service-limits.html. The queries are from
 * "Active DML queries" of https://docs.aws.amazon.com/general/latest/gr/athena.html; other regions allow fewer.
 */
export const NEW_ACCOUNT: AthenaQuotas = {
  calls: {
    StartQueryExecution: { perSecond: 20, burst: 80 },
    StopQueryExecution: { perSecond: 20, burst: 80 },
    GetQueryExecution: { perSecond: 100, burst: 200 },
  },
  activeQueries: 200,
};

export const UNLIMITED: AthenaQuotas = { calls: {}, activeQueries: Number.POSITIVE_INFINITY };

/** Throws if the call exceeds the quota of its operation. */
export type AdmitCall = (operation: string) => void;

export function callLimiter({ calls }: AthenaQuotas, now?: () => number): AdmitCall {
  const buckets = new Map(
    Object.entries(calls).map(([operation, rate]) => [operation, tokenBucket(rate, now)]),
  );
  return (operation) => {
    if (buckets.get(operation)?.() === false) throw new ApiError(400, 'ThrottlingException', 'Rate exceeded');
  };
}

/** An error as the answer to a call, in the shape of AWS's JSON protocol. */
class ApiError extends Error {
  readonly status: number;
  /** The name of the error's shape. An SDK makes its exception from it. */
  readonly type: string;
  /** Athena's own error code, if there is one: it is more specific than the shape. */
  readonly code: string | undefined;

  constructor(status: number, type: string, message: string, code?: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
  }
}

export class InvalidRequest extends ApiError {
  constructor(message: string, code = 'INVALID_INPUT') {
    super(400, 'InvalidRequestException', message, code);
  }
}

/** The account has its maximum number of queued and running queries. */
export class TooManyQueries extends ApiError {
  readonly reason = 'CONCURRENT_QUERY_LIMIT_EXCEEDED';

  constructor(most: number) {
    super(
      400,
      'TooManyRequestsException',
      `You have exceeded the limit for the number of queries you can run concurrently (${most}).`,
    );
  }
}
