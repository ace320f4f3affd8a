import { vi } from 'vitest';
import { describeS3OverHttp, type LeftOut } from '../s3/behaviour.ts';
import { wireSubject } from '../s3/wire-subject.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator, REGION, ROOT_CREDENTIALS } from './operator.ts';

const BUCKET = 's3-behaviour';

/** The tests of the suite that the emulator's S3 does not pass, each with the reason. */
const leftOut: LeftOut = {
  'gives in a listing the time of each object in whole seconds':
    'The emulator’s listings have milliseconds; S3 tells whole seconds.',
};

describeS3OverHttp(
  'the S3 of the emulator',
  async () => {
    const lane = currentLane() as Lane;
    await operator(lane).aws('s3api', 'create-bucket', '--bucket', BUCKET);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', lane.endpoint);
    vi.stubEnv('AWS_REGION', REGION);
    vi.stubEnv('AWS_ACCESS_KEY_ID', ROOT_CREDENTIALS.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', ROOT_CREDENTIALS.secretAccessKey);
    const subject = wireSubject(BUCKET);
    return {
      ...subject,
      async close() {
        await subject.close();
        vi.unstubAllEnvs();
        await operator(lane).aws('s3', 'rb', '--force', `s3://${BUCKET}`);
      },
    };
  },
  leftOut,
);
