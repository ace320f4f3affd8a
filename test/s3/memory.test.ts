import { s3LargeFiles } from '../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../lib/aws/results-bucket.ts';
import { describeS3 } from './behaviour.ts';
import { memoryClient } from './memory-client.ts';
import { memoryS3 } from './memory-s3.ts';

describeS3('S3 in memory', async () => {
  const s3 = memoryS3(Date.now);
  const client = memoryClient(s3);
  const until = Date.now() + 60_000;
  return {
    results: { ...s3ResultsBucket(client, 'results', until), ...s3LargeFiles(client, 'results', until) },
    put: async (key, content) => s3.put(key, content),
    remove: async (key) => s3.objects.delete(key),
    async fileOf(key) {
      const { fileName: _, ...file } = s3.objects.get(key)?.file ?? { fileName: '', metadata: {} };
      return file;
    },
    close: async () => {},
  };
});
