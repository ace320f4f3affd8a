import { describeS3 } from './behaviour.ts';
import { memoryResults } from './memory-results.ts';
import { memoryS3 } from './memory-s3.ts';

describeS3('S3 in memory', async () => {
  const s3 = memoryS3(Date.now);
  return {
    results: memoryResults(s3),
    put: async (key, content) => s3.put(key, content),
    remove: async (key) => s3.objects.delete(key),
    async fileOf(key) {
      const { fileName: _, ...file } = s3.objects.get(key)?.file ?? { fileName: '', metadata: {} };
      return file;
    },
    close: async () => {},
  };
});
