import { s3LargeFiles } from '../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../lib/aws/results-bucket.ts';
import { startDownloadsEdge } from '../../local/downloads-edge/downloads-edge.ts';
import { Bucket, startResultsStore } from '../lib/aws/results-store.ts';
import { describeS3, describeS3Downloads, describeS3OverHttp } from './behaviour.ts';
import { memoryClient } from './memory-client.ts';
import { memoryS3 } from './memory-s3.ts';
import { wireSubject } from './wire-subject.ts';

describeS3('S3 in memory', async () => {
  const s3 = memoryS3(Date.now);
  const client = memoryClient(s3);
  const until = Date.now() + 60_000;
  return {
    results: { ...s3ResultsBucket(client, Bucket, until), ...s3LargeFiles(client, Bucket, until) },
    put: async (key, content) => s3.put(key, content),
    remove: async (key) => s3.objects.delete(key),
    async fileOf(key) {
      const { fileName: _, ...file } = s3.objects.get(key)?.file ?? { fileName: '', metadata: {} };
      return file;
    },
    close: async () => {},
  };
});

async function oneMachine(hasEdge: boolean) {
  const store = await startResultsStore();
  const edge = hasEdge ? await startDownloadsEdge(store.url) : undefined;
  const subject = wireSubject(Bucket, edge?.url);
  const close = async () => {
    for (const each of [subject, edge, store]) await each?.close();
  };
  return { ...subject, close };
}

describeS3OverHttp('the S3 of the one-machine stack', () => oneMachine(false));
describeS3Downloads('the S3 of the one-machine stack behind the edge for downloads', () => oneMachine(true));
