import { randomUUID } from 'node:crypto';

/** EventBridge's event for an object that was created in S3. */
export const objectCreatedEvent = ({ bucket, key }: { readonly bucket: string; readonly key: string }) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Object Created',
  source: 'aws.s3',
  account: '000000000000',
  time: new Date().toISOString(),
  region: 'local',
  resources: [`arn:aws:s3:::${bucket}`],
  detail: { version: '0', bucket: { name: bucket }, object: { key } },
});
