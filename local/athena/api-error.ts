/** An error as the answer to a call, in the shape of AWS's JSON protocol. */
export class ApiError extends Error {
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
