/**
 * Checks AWS Signature Version 4, in the header and in presigned URLs. The file is long because it keeps all checks
 * together, in the order in which S3 makes them.
 */
import { createHmac, hash, randomBytes } from 'node:crypto';
import { accessDenied, S3Error } from './s3-error.ts';
import { encodeUri } from './s3-text.ts';
import type { StoreRequest } from './store-request.ts';

/** The one account, drawn at each start: a web page that knows this source can't sign a request. */
export const credentials = {
  accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
  secretAccessKey: randomBytes(20).toString('hex'),
};

// The maximum difference between a signer's clock and S3's.
const MAX_SKEW_MS = 15 * 60 * 1000;

const MAX_EXPIRY_SECONDS = 604_800;

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The header that CloudFront adds, unsigned, to its requests to an S3 origin. */
const FROM_CLOUDFRONT = 'x-amz-cf-id';

/** The signature of a request, from its `Authorization` header or its query. */
interface Signature {
  /** `<access key>/<date>/<region>/<service>/aws4_request` */
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** `20260131T103000Z` */
  readonly time: string;
  readonly payloadHash: string;
}

/**
 * Throws S3's error unless the request carries exactly one valid and unexpired AWS Signature Version 4, in its
 * `Authorization` header or in its query (presigned).
 */
export function verifySignature(request: StoreRequest): void {
  const { authorization } = request.headers;
  const query = new Map(request.parameters);
  const isPresigned = query.has('X-Amz-Algorithm');
  if (!isPresigned && authorization === undefined) throw accessDenied();
  if (isPresigned && authorization !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string ' +
        'parameter or the Authorization header should be specified',
      { ArgumentName: 'Authorization', ArgumentValue: authorization },
    );
  }
  const signed = isPresigned ? presignedOf(query) : signedOf(request.headers, authorization ?? '');
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && name !== FROM_CLOUDFRONT && !signed.signedHeaders.includes(name),
  );
  if (unsigned.length > 0)
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    });
  const [accessKeyId, ...scope] = signed.credential.split('/');
  if (accessKeyId !== credentials.accessKeyId) {
    throw new S3Error(
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
    );
  }
  const stringToSign = [
    ALGORITHM,
    signed.time,
    scope.join('/'),
    hash('sha256', canonicalRequest(request, query, signed)),
  ].join('\n');
  if (createHmac('sha256', signingKey(scope)).update(stringToSign).digest('hex') !== signed.signature) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and ' +
        'signing method.',
      { StringToSign: stringToSign },
    );
  }
}

function canonicalRequest(
  { method, path, parameters, headers }: StoreRequest,
  query: ReadonlyMap<string, string>,
  { signedHeaders, payloadHash }: Signature,
): string {
  // The `X-Amz-*` parameters of the query count as headers.
  const hoisted = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]));
  const signedValue = (name: string) =>
    String(headers[name] ?? (name.startsWith('x-amz-') ? hoisted.get(name) : undefined)).replace(/ +/g, ' ');
  return [
    method,
    path
      .split('/')
      .map((segment) => encodeUri(decodeURIComponent(segment)))
      .join('/'),
    parameters
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encodeUri(name)}=${encodeUri(value)}`)
      .sort()
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${signedValue(name)}`),
    '',
    signedHeaders.join(';'),
    payloadHash,
  ].join('\n');
}

/** The signing key of the latest scope (day, region, service). Computing a key takes four digests. */
const signingKeys = new Map<string, Buffer>();

function signingKey(scope: readonly string[]): Buffer {
  const name = scope.join('/');
  const kept = signingKeys.get(name);
  if (kept) return kept;
  const [date = '', region = '', service = ''] = scope;
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  ) as Buffer;
  // Anybody may send any scope, so only the latest key is kept: the map must not grow.
  signingKeys.clear();
  signingKeys.set(name, key);
  return key;
}

function presignedOf(query: ReadonlyMap<string, string>): Signature {
  const wrong = (message: string) => new S3Error('AuthorizationQueryParametersError', message);
  const time = query.get('X-Amz-Date') ?? '';
  const signedAt = timeOf(time);
  if (Number.isNaN(signedAt))
    throw wrong("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  const expiry = query.get('X-Amz-Expires') ?? '';
  if (!/^\d+$/.test(expiry)) throw wrong('X-Amz-Expires should be a number');
  if (Number(expiry) > MAX_EXPIRY_SECONDS)
    throw wrong(
      `X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than ${MAX_EXPIRY_SECONDS} seconds`,
    );
  if (query.get('X-Amz-Algorithm') !== ALGORITHM) throw wrong(`X-Amz-Algorithm only supports "${ALGORITHM}"`);
  const [credential, signedHeaders, signature] = ['Credential', 'SignedHeaders', 'Signature'].map((name) =>
    query.get(`X-Amz-${name}`),
  );
  if (credential === undefined || signedHeaders === undefined || signature === undefined)
    throw wrong(
      'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, ' +
        'X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
    );
  const expiresAt = signedAt + Number(expiry) * 1_000;
  // For a presigned URL, S3 checks only the expiry, not the signer's clock.
  if (Date.now() > expiresAt)
    throw new S3Error('AccessDenied', 'Request has expired', {
      'X-Amz-Expires': expiry,
      Expires: wholeSeconds(expiresAt),
      ServerTime: wholeSeconds(Date.now()),
    });
  const payloadHash = query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD';
  return { credential, signedHeaders: signedHeaders.split(';'), signature, time, payloadHash };
}

function signedOf(headers: StoreRequest['headers'], authorization: string): Signature {
  if (!authorization.startsWith(`${ALGORITHM} `)) {
    throw new S3Error('InvalidArgument', 'Unsupported Authorization Type', {
      ArgumentName: 'Authorization',
      ArgumentValue: authorization,
    });
  }
  const time = String(headers['x-amz-date'] ?? '');
  const signedAt = timeOf(time);
  if (Number.isNaN(signedAt))
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header');
  if (Math.abs(Date.now() - signedAt) > MAX_SKEW_MS) {
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    );
  }
  const payloadHash = headers['x-amz-content-sha256'];
  if (typeof payloadHash !== 'string')
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  // A body that is signed chunk by chunk is refused: the stored object would contain the signatures.
  if (!/^(UNSIGNED-PAYLOAD|[0-9A-Fa-f]{64})$/.test(payloadHash))
    throw new S3Error(
      'InvalidArgument',
      'x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a valid sha256 value.',
      { ArgumentName: 'x-amz-content-sha256', ArgumentValue: payloadHash },
    );
  const component = (name: string): string => {
    const [, value] = new RegExp(`[ ,]${name}=([^, ]+)`).exec(authorization) ?? [];
    if (value === undefined)
      throw new S3Error(
        'AuthorizationHeaderMalformed',
        `The authorization header is malformed; missing ${name}.`,
      );
    return value;
  };
  return {
    credential: component('Credential'),
    signedHeaders: component('SignedHeaders').split(';'),
    signature: component('Signature'),
    time,
    payloadHash,
  };
}

/** The time in milliseconds since 1970. NaN if the text is not of the form `20260131T103000Z`. */
const timeOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

const wholeSeconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+/, '');
