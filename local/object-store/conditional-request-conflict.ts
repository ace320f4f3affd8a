import S3Error from '@20minutes/s3rver/lib/models/error.js';

/** S3's 409 on a conditional write; s3rver doesn't know the code. */
export const conditionalRequestConflict = (): S3Error =>
  Object.assign(
    new S3Error(
      'ConditionalRequestConflict',
      'The conditional request cannot succeed due to a conflicting operation against this resource.',
    ),
    { status: 409, expose: true },
  );
