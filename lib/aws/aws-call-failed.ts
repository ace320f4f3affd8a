/** A call to AWS that failed, with what the log needs and what AWS's support asks for. */
export class AwsCallFailed extends Error {
  override readonly name = 'AwsCallFailed';
  /** `S3 HeadObject` */
  readonly operation: string;
  /** Undefined where no answer came. */
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
}

/** What the SDK adds to each of its errors. */
export const metadataOf = (error: unknown): Metadata =>
  (error as { readonly $metadata?: Metadata } | undefined)?.$metadata ?? {};
