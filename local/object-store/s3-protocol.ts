/** What the store's operations share: a request, an answer, S3's errors, and S3's spelling of texts. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** The parts of a request to the store. */
export interface StoreRequest {
  readonly method: string;
  /** The path as it was sent, with its percent-encoding. */
  readonly path: string;
  readonly bucket: string;
  /** The object's key. Empty if the request is for the bucket. */
  readonly key: string;
  /** The query's parameters, decoded, in their order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
}

export interface StoreAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Buffer | Readable;
}

/** Reads a request. Throws S3's error if the path can't be decoded. */
export function readRequest(request: IncomingMessage): StoreRequest {
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(request.url ?? '') ?? [];
  const [, bucket = '', ...key] = path.split('/').map(decodeSegment);
  return {
    method: request.method ?? '',
    path,
    bucket,
    key: key.join('/'),
    parameters: [...new URLSearchParams(query)],
    headers: request.headers,
    body: request,
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** The first value of a query parameter. */
export const parameterOf = ({ parameters }: StoreRequest, name: string): string | undefined =>
  parameters.find(([other]) => other === name)?.[1];

/** The HTTP status of each error code with which the store can answer. */
const STATUSES = {
  AccessForbidden: 403,
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
  readonly #detail: Readonly<Record<string, unknown>>;

  constructor(code: keyof typeof STATUSES, message: string, detail: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.#detail = detail;
  }

  toAnswer(): StoreAnswer {
    const members = { Code: this.code, Message: this.message, ...this.#detail };
    return { ...xmlAnswer('Error', members), status: STATUSES[this.code] };
  }
}

export const accessDenied = (): S3Error => new S3Error('AccessDenied', 'Access Denied');

export const noSuchKey = (detail?: { readonly Key: string }): S3Error =>
  new S3Error('NoSuchKey', 'The specified key does not exist.', detail);

/** S3's error for an argument that it does not take. */
export const invalidArgument = (message: string, name: string, value: string): S3Error =>
  new S3Error('InvalidArgument', message, { ArgumentName: name, ArgumentValue: value });

/** S3's error for a conditional write that conflicts with another operation. */
export const conditionalRequestConflict = (): S3Error =>
  new S3Error(
    'ConditionalRequestConflict',
    'The conditional request cannot succeed due to a conflicting operation against this resource.',
  );

/** An answer with one XML element, which holds an element for each of the members. */
export const xmlAnswer = (root: string, members: Readonly<Record<string, unknown>>): StoreAnswer => {
  const elements = Object.entries(members).map(([name, value]) => xmlElement(name, xmlText(String(value))));
  return xmlDocument(xmlElement(root, elements.join('')));
};

export const xmlDocument = (root: string): StoreAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${root}`,
});

const xmlElement = (name: string, content: string): string => `<${name}>${content}</${name}>`;

/** A text, escaped for the inside of an XML element. */
export const xmlText = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Percent-encodes all but RFC 3986's unreserved characters, as AWS does in signatures and listings. */
export const encodeUri = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Compares two keys as S3 sorts them, by the bytes of their UTF-8. JavaScript sorts by UTF-16, which differs. */
export function utf8Order(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}
