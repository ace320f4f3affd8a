import { startDownloadsEdge } from '../../local/downloads-edge/downloads-edge.ts';
import { Bucket, startResultsStore } from '../lib/aws/results-store.ts';
import { describeS3Downloads, describeS3OverHttp } from './behaviour.ts';
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

describeS3Downloads('the S3 of the one-machine stack behind the edge for downloads', async () => {
  const store = await startResultsStore();
  const edge = await startDownloadsEdge(store.url);
  const subject = wireSubject(Bucket, edge.url);
  return {
    ...subject,
    async close() {
      await subject.close();
      await edge.close();
      await store.close();
    },
  };
});
