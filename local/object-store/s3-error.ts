import { xmlDocument, xmlText } from './s3-text.ts';

/** S3's status for each error code that the store answers. */
const STATUSES = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  ConditionalRequestConflict: 409,
  EntityTooSmall: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
} as const;

/** An error that is answered as S3's XML, with S3's status for the code. */
export class S3Error extends Error {
  readonly code: keyof typeof STATUSES;
  readonly status: number;
  readonly #detail: Readonly<Record<string, unknown>>;

  constructor(code: keyof typeof STATUSES, message: string, detail: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.status = STATUSES[code];
    this.#detail = detail;
  }

  toXml(): string {
    const members = { Code: this.code, Message: this.message, ...this.#detail };
    const elements = Object.entries(members).map(
      ([name, value]) => `<${name}>${xmlText(String(value))}</${name}>`,
    );
    return xmlDocument(`<Error>${elements.join('')}</Error>`);
  }
}

export const accessDenied = (): S3Error => new S3Error('AccessDenied', 'Access Denied');

export const noSuchKey = (detail?: { readonly Key: string }): S3Error =>
  new S3Error('NoSuchKey', 'The specified key does not exist.', detail);

/** S3's error for a conditional write that conflicts with another operation. */
export const conditionalRequestConflict = (): S3Error =>
  new S3Error(
    'ConditionalRequestConflict',
    'The conditional request cannot succeed due to a conflicting operation against this resource.',
  );
