import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { clientGone, type Faults } from '../faults/faults.ts';
import { type CallRate, tokenBucket } from '../token-bucket.ts';

/** Answers one operation: JSON in, JSON out. Throws an ApiError to answer with an error. */
export type Operation = (input: unknown) => object;

const TARGET_PREFIX = 'AmazonAthena.';
const CONTENT_TYPE = 'application/x-amz-json-1.1';

/**
 * Answers AWS's JSON 1.1 protocol: `POST /` with the operation in `X-Amz-Target`. A call must be signed, but the
 * signature is not checked. Faults and quotas apply to each call of a known operation.
 */
export function answerProtocol(
  operations: Readonly<Record<string, Operation>>,
  faults: Faults,
  admit: ReturnType<typeof callLimiter>,
) {
  /** Resolves to the answer, or, if a fault stalls the call, to undefined once the client has disconnected. */
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<object | undefined> => {
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
    admit(name);
    const struck = await faults.strike('athena', name);
    if (struck.some(({ stall }) => stall)) {
      await clientGone(response);
      return undefined;
    }
    if (struck.some(({ throttle }) => throttle)) throw throttled();
    if (struck.some(({ status }) => status === 500))
      throw new ApiError(500, 'InternalServerException', 'made to fail');
    return operation(input);
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const document = await answer(request, response);
      if (document) send(response, 200, document);
    } catch (error) {
      sendError(response, error);
    }
  };
}

function sendError(response: ServerResponse, error: unknown): void {
  const { status, type, message, members } =
    error instanceof ApiError ? error : new ApiError(500, 'InternalServerException', String(error));
  response.setHeader('x-amzn-errortype', type);
  send(response, status, { __type: type, Message: message, ...members });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': randomUUID() });
  response.end(JSON.stringify(body));
}

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

/** Returns a function that throws if a call exceeds the quota of its operation. */
export function callLimiter({ calls }: AthenaQuotas, now?: () => number) {
  const buckets = new Map(
    Object.entries(calls).map(([operation, rate]) => [operation, tokenBucket(rate, now)]),
  );
  return (operation: string): void => {
    if (buckets.get(operation)?.() === false) throw throttled();
  };
}

const throttled = () => new ApiError(400, 'ThrottlingException', 'Rate exceeded');

/** An error as the answer to a call, in the shape of AWS's JSON protocol. */
class ApiError extends Error {
  readonly status: number;
  /** The name of the error's shape. An SDK makes its exception from it. */
  readonly type: string;
  /** Further members of the answer. */
  readonly members: object;

  constructor(status: number, type: string, message: string, members: object = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.members = members;
  }
}

/** Athena's own code is more specific than the error's shape. Athena sends it under two names. */
export class InvalidRequest extends ApiError {
  constructor(message: string, code = 'INVALID_INPUT') {
    super(400, 'InvalidRequestException', message, { AthenaErrorCode: code, ErrorCode: code });
  }
}

/** The account has its maximum number of queued and running queries. */
export class TooManyQueries extends ApiError {
  constructor(most: number) {
    const message = `You have exceeded the limit for the number of queries you can run concurrently (${most}).`;
    super(400, 'TooManyRequestsException', message, { Reason: 'CONCURRENT_QUERY_LIMIT_EXCEEDED' });
  }
}
