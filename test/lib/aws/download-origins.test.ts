import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { downloadOrigins } from '../../../lib/aws/results-bucket.ts';

// As on Lambda, the environment gives region, credentials and endpoints.
beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
});
afterEach(() => vi.unstubAllEnvs());

describe('the origins of downloads', () => {
  const EDGE = 'https://edge.example';
  const OURS = 'http://127.0.0.1:9000';
  const BUCKET = 'https://results.s3.eu-west-1.amazonaws.com';

  it.each([
    ['the origin of the bucket', undefined, undefined, [BUCKET]],
    ['the S3 endpoint that the environment names', OURS, undefined, [OURS]],
    ['the origins of the bucket and of the edge', undefined, EDGE, [BUCKET, EDGE]],
  ])('consist of %s', async (_, endpoint, edge, expected) => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint);
    expect(await downloadOrigins('results', edge)).toEqual(expected);
  });
});
