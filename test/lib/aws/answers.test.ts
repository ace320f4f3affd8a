import { TooManyRequestsException } from '@aws-sdk/client-athena';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { AwsCallFailed, isLostWrite, isRefusedCondition, metadataOf } from '../../../lib/aws/answers.ts';

const $metadata = { httpStatusCode: 400, requestId: 'abc-1' };
const throttled = new TooManyRequestsException({ message: "slow down, user 'secret'", $metadata });

/** S3's refusal of the right to read a ticket, in S3's words. */
const refusal = (message: string) =>
  new S3ServiceException({ name: 'AccessDenied', $fault: 'client', message, $metadata });

describe('AwsCallFailed', () => {
  it("names the call, the error, its HTTP status and AWS's request id", () => {
    const failure = new AwsCallFailed('Athena StartQueryExecution', throttled);
    const known = { operation: 'Athena StartQueryExecution', httpStatus: 400, awsRequestId: 'abc-1' };
    const message = 'Athena StartQueryExecution: TooManyRequestsException, status 400, request abc-1';
    const told = { name: 'AwsCallFailed', message, refusedAction: undefined, detail: 'slow down, user …' };
    expect(failure).toMatchObject({ ...known, ...told });
  });

  it.each([
    ['throttled by Athena', throttled],
    ['refused by S3', refusal('arn:aws:s3:::results/waiting/secret.json')],
  ])('does not hold the error of a call that was %s, because its message may quote a secret', (_, error) => {
    expect(new AwsCallFailed('any', error).cause).toBeUndefined();
  });

  it.each([
    ['no answer came', Object.assign(new Error('socket'), { $metadata: { attempts: 1 } })],
    ['our code has a fault', new TypeError('x')],
  ])('holds the error if %s', (_, error) => {
    expect(new AwsCallFailed('S3 HeadObject', error).cause).toBe(error);
  });

  it.each([
    [
      's3:GetObject',
      'User: arn:aws:sts::1:assumed-role/x/y is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::results/waiting/secret.json" because no identity-based policy allows the s3:GetObject action',
    ],
    ['kms:Decrypt', 'You are not authorized to perform: kms:Decrypt on the resource.'],
    [undefined, 'Access Denied'],
    [undefined, 'not authorized to perform: waiting/secret.json'],
  ])('says which action was refused: %s', (action, message) => {
    const failure = new AwsCallFailed('S3 GetObject', refusal(message));
    expect([failure.refusedAction, failure.detail]).toEqual([action, undefined]);
    expect(JSON.stringify(Object.values(failure))).not.toContain('secret');
  });

  it('says “none” for status and request if no answer came', () => {
    const failure = new AwsCallFailed('S3 HeadObject', new TypeError('x'));
    expect(failure.message).toBe('S3 HeadObject: TypeError, status none, request none');
    expect([failure.httpStatus, failure.awsRequestId]).toEqual([undefined, undefined]);
  });

  it.each([
    ['text', 'S3 HeadObject: text, status none, request none'],
    [undefined, 'S3 HeadObject: undefined, status none, request none'],
  ])('accepts a cause that is no error: %j', (thrown, message) => {
    expect(new AwsCallFailed('S3 HeadObject', thrown).message).toBe(message);
  });
});

describe('metadataOf', () => {
  it('gives the status and request id of an SDK error, and neither for anything else', () => {
    expect(metadataOf(throttled)).toEqual($metadata);
    expect([new Error('x'), 'x', undefined].map(metadataOf)).toEqual([{}, {}, {}]);
  });
});

it.each([
  ['PreconditionFailed', 412, true, true],
  ['NoSuchKey', 404, true, true],
  ['ConditionalRequestConflict', 409, false, true],
  ['NoSuchBucket', 404, false, false],
  ['NoSuchUpload', 404, false, false],
  ['AccessDenied', 403, false, false],
])('S3’s %s (%i) is a refused condition: %s; a lost write: %s', (name, httpStatusCode, isRefused, isLost) => {
  const error = Object.assign(new Error('x'), { name, $metadata: { httpStatusCode } });
  expect([isRefusedCondition(error), isLostWrite(error)]).toEqual([isRefused, isLost]);
});
