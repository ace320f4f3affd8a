import { GetObjectCommand, NoSuchKey, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { parseDocument } from '../access/parse-document.ts';
import { type PartnerRecord, readPartner } from '../access/partner-record.ts';
import { partnerKey, RECORD_KEPT_MS, type Register } from '../access/register.ts';
import { call } from './call.ts';

/** What one function has read of the register, by client; `undefined` for a client that is not there. */
export type RecordCache = Map<
  string,
  { readonly readAt: number; readonly record: PartnerRecord | undefined }
>;

/**
 * The register of partners in S3. A read ends by `until`, in milliseconds since 1970.
 *
 * @param bucket undefined where the stage has no register: nobody is found then
 */
export function s3Register(
  s3: S3Client,
  bucket: string | undefined,
  { until, cache }: { readonly until: number; readonly cache: RecordCache },
): Register {
  return {
    async find(client) {
      if (bucket === undefined) return undefined;
      // Counted from before the read: a record that is written during the read must be seen within the same minute.
      const readAt = Date.now();
      const kept = cache.get(client);
      if (kept && isFresh(kept.readAt, readAt)) return kept.record;
      const text = await call('S3 GetObject', until, async (abortSignal) => {
        try {
          const command = new GetObjectCommand({ Bucket: bucket, Key: partnerKey(client) });
          return await (await s3.send(command, { abortSignal })).Body?.transformToString();
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      });
      const record = readPartner(parseDocument(text ?? ''), client);
      for (const [other, entry] of cache) if (!isFresh(entry.readAt, readAt)) cache.delete(other);
      cache.set(client, { readAt, record });
      return record;
    },
  };
}

/** False too where the clock was set back, so that nothing is kept for longer than it may be. */
const isFresh = (readAt: number, now: number): boolean => readAt <= now && now - readAt < RECORD_KEPT_MS;

/** S3 answers `AccessDenied` for a missing object to a caller who may not list the bucket. */
const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey || (error instanceof S3ServiceException && error.name === 'AccessDenied');
