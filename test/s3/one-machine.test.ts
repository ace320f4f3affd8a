import { Bucket, startResultsStore } from '../lib/aws/results-store.ts';
import { describeS3OverHttp } from './behaviour.ts';
import { wireSubject } from './wire-subject.ts';

describeS3OverHttp('the S3 of the one-machine stack', async () => {
  const store = await startResultsStore();
  const subject = wireSubject(Bucket);
  return {
    ...subject,
    async close() {
      await subject.close();
      await store.close();
    },
  };
});
