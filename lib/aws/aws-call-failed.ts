/** A failed call to AWS, with the facts that the log needs and that AWS's support asks for. */
export class AwsCallFailed extends Error {
  override readonly name = 'AwsCallFailed';
  /** The AWS service and its operation, for example `S3 HeadObject`. */
  readonly operation: string;
  /** Undefined if no answer came. */
  readonly httpStatus: number | undefined;
  readonly awsRequestId: string | undefined;

  constructor(operation: string, cause: unknown) {
    const { httpStatusCode, requestId } = metadataOf(cause);
    const name = cause instanceof Error ? cause.name : String(cause);
    super(`${operation}: ${name}, status ${httpStatusCode ?? 'none'}, request ${requestId ?? 'none'}`, {
      cause,
    });
    this.operation = operation;
    this.httpStatus = httpStatusCode;
    this.awsRequestId = requestId;
  }
}

interface Metadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  /** Added by `keepAnswerDates` (answer-date.ts). */
  readonly isSignedAtWrongTime?: boolean;
}

/** The metadata that the SDK adds to each of its errors. */
export const metadataOf = (error: unknown): Metadata =>
  (error as { readonly $metadata?: Metadata } | undefined)?.$metadata ?? {};
