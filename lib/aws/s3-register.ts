import { GetObjectCommand, NoSuchKey, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { parseDocument, partnerKey, type Register, readPartner } from '../access/partner-record.ts';
import { isYounger } from '../report/utc-time.ts';
import { undefinedIf } from './answers.ts';
import { call } from './call.ts';

/** How long a function caches a record. A removed partner keeps its access for at most this time. */
const RECORD_KEPT_MS = 60_000;

/** What one function has read, by client. The record of a client that is not registered is undefined. */
export type RecordCache = Map<
  string,
  { readonly readAt: number; readonly record: ReturnType<typeof readPartner> }
>;

/**
 * The register of partners in S3. A read ends by `until`, in milliseconds since 1970.
 * @param bucket undefined if the stage has no register: then no client is found
 */
export function s3Register(
  s3: S3Client,
  bucket: string | undefined,
  { until, cache }: { readonly until: number; readonly cache: RecordCache },
): Register {
  return {
    async find(client) {
      if (bucket === undefined) return undefined;
      // The minute begins before the read, so that a record written during the read is seen in time.
      const readAt = Date.now();
      const earlier = cache.get(client);
      if (earlier && isYounger(earlier.readAt, RECORD_KEPT_MS, readAt)) return earlier.record;
      const text = await call('S3 GetObject', { until }, async (abortSignal) => {
        const command = new GetObjectCommand({ Bucket: bucket, Key: partnerKey(client) });
        const answer = await s3.send(command, { abortSignal }).catch(undefinedIf(isMissing));
        return answer?.Body?.transformToString();
      });
      const record = readPartner(parseDocument(text ?? ''), client);
      for (const [other, entry] of cache)
        if (!isYounger(entry.readAt, RECORD_KEPT_MS, readAt)) cache.delete(other);
      cache.set(client, { readAt, record });
      return record;
    },
  };
}

/** S3 answers `AccessDenied` for a missing object to a caller who may not list the bucket. */
const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey || (error instanceof S3ServiceException && error.name === 'AccessDenied');
