import { TooManyRequestsException } from '@aws-sdk/client-athena';
import { describe, expect, it } from 'vitest';
import { AwsCallFailed, metadataOf } from '../../../lib/aws/aws-call-failed.ts';

const cause = new TooManyRequestsException({
  message: 'slow down, arn:aws:athena:…:workgroup/secret',
  $metadata: { httpStatusCode: 400, requestId: 'abc-1' },
});

describe('AwsCallFailed', () => {
  it("names the call, the error, its HTTP status and AWS's request id, and not the error's message", () => {
    const failure = new AwsCallFailed('Athena StartQueryExecution', cause);
    expect(failure).toMatchObject({
      name: 'AwsCallFailed',
      operation: 'Athena StartQueryExecution',
      httpStatus: 400,
      awsRequestId: 'abc-1',
      message: 'Athena StartQueryExecution: TooManyRequestsException, status 400, request abc-1',
      cause,
    });
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
    expect(metadataOf(cause)).toEqual({ httpStatusCode: 400, requestId: 'abc-1' });
    expect([new Error('x'), 'x', undefined].map(metadataOf)).toEqual([{}, {}, {}]);
  });
});
