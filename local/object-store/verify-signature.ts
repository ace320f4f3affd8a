import { createHmac } from 'node:crypto';
import type { Context } from '@20minutes/s3rver';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import * as v4 from '@20minutes/s3rver/lib/signature/v4.js';
import { encodeURIComponentRFC3986 as encode, parseISO8601String } from '@20minutes/s3rver/lib/utils.js';

/** The one account of the object store: s3rver's. */
export const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } as const;

// How far S3 lets a signer's clock be off.
const MAX_SKEW_MS = 15 * 60 * 1000;

/**
 * Throws S3's error unless the request carries exactly one valid and unexpired AWS Signature Version 4, in its
 * `Authorization` header or in its query (presigned).
 *
 * Stands in for s3rver's own check, which lets anonymous requests through, takes an `X-Amz-Expires` or a date
 * it can't read for "never", and refuses right signatures over a query value with one of `!'()*` in it.
 */
export function verifySignature(ctx: Context): void {
  const { authorization } = ctx.headers;
  const parameters = [...new URLSearchParams(ctx.querystring)];
  const query = Object.fromEntries(parameters);
  const presigned = 'X-Amz-Algorithm' in query;
  if (!presigned && authorization === undefined) throw new S3Error('AccessDenied', 'Access Denied');
  if (presigned && authorization !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string ' +
        'parameter or the Authorization header should be specified',
      { ArgumentName: 'Authorization', ArgumentValue: authorization },
    );
  }

  const headers = headersOf(ctx, parameters);
  const request = presigned ? parsePresigned(query) : parseSigned(headers);
  if (request.accessKeyId !== credentials.accessKeyId) {
    throw new S3Error(
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
    );
  }
  const canonical = {
    method: ctx.method,
    uri: ctx.path
      .split('/')
      .map((segment) => encode(decodeURIComponent(segment)))
      .join('/'),
    querystring: parameters
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    headers,
    timestamp: headers['x-amz-date'],
  };
  const stringToSign = v4.getStringToSign(canonical, request);
  const { date, region, service } = request.credential;
  const key = v4.getSigningKey(credentials.secretAccessKey, date, region, service);
  if (createHmac('sha256', key).update(stringToSign).digest('hex') !== request.signatureProvided) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and ' +
        'signing method.',
      { StringToSign: stringToSign },
    );
  }
}

/** The headers as they are signed: inner spaces single, and the `X-Amz-*` parameters of the query among them. */
const headersOf = (ctx: Context, parameters: [string, string][]): Record<string, string> =>
  Object.fromEntries([
    ...Object.entries(ctx.headers).map(([name, value]) => [name, String(value).replace(/ +/g, ' ')]),
    ...parameters
      .filter(([name]) => /^x-amz-/i.test(name))
      .map(([name, value]) => [name.toLowerCase(), value]),
  ]);

const parsePresigned = (query: Record<string, string>) => {
  if (!isTime(query['X-Amz-Date'])) {
    throw new S3Error(
      'AuthorizationQueryParametersError',
      "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"",
    );
  }
  if (!/^\d+$/.test(query['X-Amz-Expires'] ?? '')) {
    throw new S3Error('AuthorizationQueryParametersError', 'X-Amz-Expires should be a number');
  }
  return v4.parseQuery(query);
};

const parseSigned = (headers: Record<string, string>) => {
  if (!headers['authorization']?.startsWith('AWS4-HMAC-SHA256 ')) {
    throw new S3Error('InvalidArgument', 'Unsupported Authorization Type', {
      ArgumentName: 'Authorization',
      ArgumentValue: headers['authorization'],
    });
  }
  const time = headers['x-amz-date'];
  if (!isTime(time)) {
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header');
  }
  if (Math.abs(Date.now() - parseISO8601String(time).getTime()) > MAX_SKEW_MS) {
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    );
  }
  return v4.parseHeader(headers);
};

const isTime = (text: string | undefined): text is string =>
  !Number.isNaN(parseISO8601String(text).getTime());
