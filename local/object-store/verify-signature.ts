import { createHmac } from 'node:crypto';
import type { Context } from '@20minutes/s3rver';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import * as v4 from '@20minutes/s3rver/lib/signature/v4.js';
import { encodeURIComponentRFC3986, parseISO8601String } from '@20minutes/s3rver/lib/utils.js';

/** The one account of the object store. */
export const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } as const;

// What S3 allows a signing clock to be off.
const MAX_SKEW_MS = 15 * 60 * 1000;

/**
 * Throws S3's error unless the request carries exactly one valid, unexpired AWS Signature Version 4: in its
 * `Authorization` header or in its query (presigned).
 *
 * Stands in for s3rver's own check, which lets anonymous requests through, takes an `X-Amz-Expires` that is no
 * number for eternity, and rejects right signatures over a query value with one of `!'()*` in it.
 */
export function verifySignature(ctx: Context): void {
  const parameters = [...new URLSearchParams(ctx.querystring)];
  const query = Object.fromEntries(parameters);
  const headers = signedHeaderValues(ctx.headers, query);
  const presigned = 'X-Amz-Algorithm' in query;
  if (!presigned && ctx.headers.authorization === undefined) {
    throw new S3Error('AccessDenied', 'Access Denied');
  }
  if (presigned && ctx.headers.authorization !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string ' +
        'parameter or the Authorization header should be specified',
      { ArgumentName: 'Authorization', ArgumentValue: ctx.headers.authorization },
    );
  }
  const signed = presigned ? parsePresigned(query) : parseAuthorization(headers);
  if (signed.accessKeyId !== credentials.accessKeyId) {
    throw new S3Error('InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  }
  const stringToSign = v4.getStringToSign(
    {
      method: ctx.method,
      uri: encodeSegments([ctx.params.bucket, ctx.params.key].join('/')),
      querystring: canonicalQuery(parameters),
      headers,
      timestamp: headers['x-amz-date'],
    },
    signed,
  );
  const { date, region, service } = signed.credential;
  const key = v4.getSigningKey(credentials.secretAccessKey, date, region, service);
  if (createHmac('sha256', key).update(stringToSign).digest('hex') !== signed.signatureProvided) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and ' +
        'signing method.',
      { StringToSign: stringToSign },
    );
  }
}
