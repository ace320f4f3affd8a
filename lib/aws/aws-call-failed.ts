import { AthenaServiceException } from '@aws-sdk/client-athena';
import { withoutValues } from './without-values.ts';

/**
 * A failed call to AWS, with the facts that the log needs and that AWS's support asks for. The log shows every member.
 * So an error with which AWS answered is not the `cause`: its message may quote an object's key, and the key of a ticket
 * is as good as the report.
 */
export class AwsCallFailed extends Error {
  override readonly name = 'AwsCallFailed';
  /** The AWS service and its operation, for example `S3 HeadObject`. */
  readonly operation: string;
  /** Undefined if no answer came. */
  readonly httpStatus: number | undefined;
  readonly awsRequestId: string | undefined;
  /** The action that the role may not perform, for example `s3:GetObject`. Undefined if AWS names none. */
  readonly refusedAction: string | undefined;
  /** Athena's message without values. S3's messages are left out. */
  readonly detail: string | undefined;

  constructor(operation: string, cause: unknown) {
    const { httpStatusCode, requestId } = metadataOf(cause);
    const name = cause instanceof Error ? cause.name : String(cause);
    super(
      `${operation}: ${name}, status ${httpStatusCode ?? 'none'}, request ${requestId ?? 'none'}`,
      httpStatusCode === undefined ? { cause } : {},
    );
    this.operation = operation;
    this.httpStatus = httpStatusCode;
    this.awsRequestId = requestId;
    this.refusedAction = cause instanceof Error ? REFUSED_ACTION.exec(cause.message)?.[1] : undefined;
    this.detail = cause instanceof AthenaServiceException ? withoutValues(cause.message) : undefined;
  }
}

/** AWS: "User: arn:… is not authorized to perform: s3:GetObject on resource: …" */
const REFUSED_ACTION = /\bnot authorized to perform: ([a-z\d-]+:[A-Za-z]+)\b/;

interface Metadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  /** Added by `keepAnswerDates` (answer-date.ts). */
  readonly isSignedAtWrongTime?: boolean;
}

/** The metadata that the SDK adds to each of its errors. */
export const metadataOf = (error: unknown): Metadata =>
  (error as { readonly $metadata?: Metadata } | undefined)?.$metadata ?? {};
