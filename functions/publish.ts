import { makeUploadClient } from '../lib/aws/clients.ts';
import { s3LargeFiles } from '../lib/aws/large-files.ts';
import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { publicationHandler } from '../lib/http/publication-handler.ts';

const dependencies = functionDependencies(process.env);
const s3 = makeUploadClient();

export const handler = publicationHandler({
  ...dependencies,
  largeFilesUntil: (until) => s3LargeFiles(s3, dependencies.config.resultsBucket, until),
});
