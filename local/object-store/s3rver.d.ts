// What the object store uses of s3rver, which comes without types.

declare module '@20minutes/s3rver' {
  import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';

  /** A request as s3rver's controllers see it (a Koa context). */
  export interface Context {
    readonly method: string;
    readonly path: string;
    readonly querystring: string;
    readonly headers: IncomingHttpHeaders;
    readonly res: ServerResponse;
    get(header: string): string;
    params: { bucket: string; key: string };
    readonly state: { account?: { readonly id: string } };
    /** The store that the controllers read and write. */
    store: object;
    status: number;
    type: string;
    body: unknown;
  }

  export default class S3rver {
    constructor(options: { directory: string; silent: boolean; vhostBuckets: boolean });
    readonly middleware: unknown[];
    use(middleware: (ctx: Context) => Promise<void>): this;
    callback(): RequestListener;
  }
}

declare module '@20minutes/s3rver/lib/controllers/object.js' {
  import type { Context } from '@20minutes/s3rver';

  export function getObject(ctx: Context): Promise<void>;
  export function putObject(ctx: Context): Promise<void>;
  export function initiateMultipartUpload(ctx: Context): Promise<void>;
  export function uploadPart(ctx: Context): Promise<void>;
  export function completeMultipartUpload(ctx: Context): Promise<void>;
}

declare module '@20minutes/s3rver/lib/middleware/response-header-override.js' {
  import type { Context } from '@20minutes/s3rver';

  export default function responseHeaderOverride(): (
    ctx: Context,
    next: () => Promise<void>,
  ) => Promise<void>;
}

declare module '@20minutes/s3rver/lib/models/error.js' {
  /** An error that is answered as S3's XML, with the status that S3 has for the code. */
  export default class S3Error extends Error {
    readonly code: string;
    constructor(code: string, message: string, detail?: Record<string, unknown>);
  }
}

declare module '@20minutes/s3rver/lib/models/object.js' {
  import type { Readable } from 'node:stream';

  export default class S3Object<Content = Readable | null> {
    /** `headers` may be a request's: only those that S3 keeps with an object are taken. */
    constructor(bucket: string, key: string, content: Content, headers: object);
    readonly bucket: string;
    readonly key: string;
    content: Content;
    readonly metadata: Record<string, string>;
    range?: { readonly start: number; readonly end: number };
    get size(): number;
    get lastModifiedDate(): Date;
  }
}

declare module '@20minutes/s3rver/lib/signature/v4.js' {
  interface SignedRequest {
    readonly accessKeyId: string;
    readonly credential: { readonly date: string; readonly region: string; readonly service: string };
    readonly signatureProvided: string;
  }

  interface CanonicalRequest {
    readonly method: string;
    readonly uri: string;
    readonly querystring: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly timestamp: string | undefined;
  }

  export function parseHeader(headers: Readonly<Record<string, string>>): SignedRequest;
  export function parseQuery(query: Readonly<Record<string, string>>): SignedRequest;
  export function getStringToSign(canonical: CanonicalRequest, signed: SignedRequest): string;
  export function getSigningKey(secret: string, date: string, region: string, service: string): Buffer;
}

declare module '@20minutes/s3rver/lib/utils.js' {
  export function encodeURIComponentRFC3986(text: string): string;
  /** An invalid `Date` where the text is not `yyyyMMddTHHmmssZ`. */
  export function parseISO8601String(text: string | undefined): Date;
}
