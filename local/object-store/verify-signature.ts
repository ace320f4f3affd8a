/**
 * Checks AWS Signature Version 4, in the header and in presigned URLs: signs the request once more with the AWS SDK's
 * own signer, and compares. The checks have the order in which S3 makes them.
 */
import { randomBytes } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { accessDenied, encodeUri, invalidArgument, S3Error, type StoreRequest } from './s3-protocol.ts';

/** The one account, drawn at each start: a web page that knows this source can't sign a request. */
export const credentials = {
  accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
  secretAccessKey: randomBytes(20).toString('hex'),
};

// S3 takes the path as it is, without a second encoding. The region is the request's own.
const signer = new SignatureV4({
  credentials,
  region: '',
  service: 's3',
  sha256: Sha256,
  uriEscapePath: false,
  applyChecksum: false,
});

// The maximum difference between a signer's clock and S3's.
const MAX_SKEW_MS = 15 * 60 * 1000;

const MAX_EXPIRY_SECONDS = 604_800;

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The signature of a request, from its `Authorization` header or its query. */
interface Signature {
  /** `<access key>/<date>/<region>/<service>/aws4_request` */
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly signedAt: Date;
  readonly payloadHash: string;
}

/**
 * Rejects with S3's error unless the request carries exactly one valid and unexpired AWS Signature Version 4, in its
 * `Authorization` header or in its query (presigned).
 */
export async function verifySignature(request: StoreRequest): Promise<void> {
  const { authorization } = request.headers;
  const query = new Map(request.parameters);
  const isPresigned = query.has('X-Amz-Algorithm');
  if (!isPresigned && authorization === undefined) throw accessDenied();
  if (isPresigned && authorization !== undefined)
    throw invalidArgument(
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string ' +
        'parameter or the Authorization header should be specified',
      'Authorization',
      authorization,
    );
  const parts = isPresigned ? presignedOf(query) : signedOf(request.headers, authorization ?? '');
  const { credential, signedHeaders, signature } = parts;
  // CloudFront adds x-amz-cf-id, unsigned, to its requests to an S3 origin.
  const unsigned = Object.keys(request.headers).filter(
    (name) => /^x-amz-(?!cf-id$)/.test(name) && !signedHeaders.includes(name),
  );
  if (unsigned.length > 0)
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    });
  if (credential.split('/')[0] !== credentials.accessKeyId)
    throw new S3Error(
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
    );
  const scope = `Credential=${credential}, SignedHeaders=${signedHeaders.join(';')}`;
  const expected = `${ALGORITHM} ${scope}, Signature=${signature}`;
  if ((await authorizationOf(request, parts)) !== expected)
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and ' +
        'signing method.',
    );
}

/**
 * The header `Authorization` of this request, if the account signs the same headers at the same time. A presigned
 * request is signed in the same way: its query, without the signature, is a part of what is signed.
 */
async function authorizationOf(
  { method, path, parameters, headers }: StoreRequest,
  { credential, signedHeaders, signedAt, payloadHash }: Signature,
): Promise<string | undefined> {
  const [, , region = '', service = ''] = credential.split('/');
  // The signer adds two headers, which a presigned request need not have signed.
  const all = [...Object.keys(headers), 'x-amz-date', 'x-amz-content-sha256'];
  const query = Object.groupBy(parameters, ([name]) => name);
  delete query['X-Amz-Signature'];
  const request = {
    ...{ method, protocol: 'http:', hostname: '' },
    path: path
      .split('/')
      .map((segment) => encodeUri(decodeURIComponent(segment)))
      .join('/'),
    query: Object.fromEntries(
      Object.entries(query).map(([name, pairs = []]) => [name, pairs.map(([, value]) => value)]),
    ),
    headers: { ...(headers as Record<string, string>), 'x-amz-content-sha256': payloadHash },
  };
  const signed = await signer.sign(request, {
    signingDate: signedAt,
    signingRegion: region,
    signingService: service,
    signableHeaders: new Set(signedHeaders),
    unsignableHeaders: new Set(all.filter((name) => !signedHeaders.includes(name))),
  });
  return signed.headers['authorization'];
}

function presignedOf(query: ReadonlyMap<string, string>): Signature {
  const wrong = (message: string) => new S3Error('AuthorizationQueryParametersError', message);
  const signedAt = timeOf(query.get('X-Amz-Date'));
  if (!signedAt) throw wrong("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
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
  const expiresAt = signedAt.getTime() + Number(expiry) * 1_000;
  // For a presigned URL, S3 checks only the expiry, not the signer's clock.
  if (Date.now() > expiresAt)
    throw new S3Error('AccessDenied', 'Request has expired', {
      'X-Amz-Expires': expiry,
      Expires: wholeSeconds(expiresAt),
      ServerTime: wholeSeconds(Date.now()),
    });
  const payloadHash = query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD';
  return { credential, signedHeaders: signedHeaders.split(';'), signature, signedAt, payloadHash };
}

function signedOf(headers: StoreRequest['headers'], authorization: string): Signature {
  if (!authorization.startsWith(`${ALGORITHM} `))
    throw invalidArgument('Unsupported Authorization Type', 'Authorization', authorization);
  const signedAt = timeOf(headers['x-amz-date']);
  if (!signedAt)
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header');
  if (Math.abs(Date.now() - signedAt.getTime()) > MAX_SKEW_MS)
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    );
  const payloadHash = headers['x-amz-content-sha256'];
  if (typeof payloadHash !== 'string')
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  // A body that is signed chunk by chunk is refused: the stored object would contain the signatures.
  if (!/^(UNSIGNED-PAYLOAD|[0-9A-Fa-f]{64})$/.test(payloadHash))
    throw invalidArgument(
      'x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a valid sha256 value.',
      'x-amz-content-sha256',
      payloadHash,
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
    signedAt,
    payloadHash,
  };
}

/** The time of a text of the form `20260131T103000Z`. Undefined for any other text. */
function timeOf(text: unknown): Date | undefined {
  const iso = String(text).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const time = Date.parse(iso);
  return Number.isNaN(time) ? undefined : new Date(time);
}

const wholeSeconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+/, '');
