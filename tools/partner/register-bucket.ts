import {
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import * as v from 'valibot';
import {
  type PartnerRecord,
  parseDocument,
  partnerKey,
  readPartner,
} from '../../lib/access/partner-record.ts';
import { isLostWrite } from '../../lib/aws/answers.ts';
import { REGISTER_PREFIX } from '../../lib/names.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** A record as it was read. A write replaces the record only if its ETag has not changed. */
interface Stored<T> {
  readonly value: T;
  readonly etag: string;
}

export type RegisterBucket = ReturnType<typeof registerBucket>;

/** The register of partners, as the operator's commands use it. Every write is conditional. */
export function registerBucket(bucket: string) {
  const s3 = new S3Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

  const read = async (key: string): Promise<Stored<unknown> | undefined> => {
    try {
      const { Body, ETag = '' } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      return { value: parseDocument((await Body?.transformToString()) ?? ''), etag: ETag };
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  };
  const write = async <T>(key: string, was: Stored<unknown> | undefined, now: T): Promise<Stored<T>> => {
    const condition = was ? { IfMatch: was.etag } : { IfNoneMatch: '*' };
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: `${JSON.stringify(now, null, 2)}\n`,
      ContentType: 'application/json',
      ...condition,
    });
    try {
      return { value: now, etag: (await s3.send(command)).ETag ?? '' };
    } catch (error) {
      if (isLostWrite(error))
        throw new OperatorFault('Another command changed this partner at the same time. Repeat this one.');
      throw error;
    }
  };

  const readStoredName = async (name: string): Promise<Stored<NameRecord> | undefined> => {
    const stored = await read(nameKey(name));
    return stored && { value: readName(stored.value), etag: stored.etag };
  };
  return {
    readName: readStoredName,
    /** Throws an OperatorFault if another command has changed the record meanwhile. */
    writeName: (was: Stored<NameRecord> | undefined, now: NameRecord) => write(nameKey(now.name), was, now),
    async listNames(): Promise<NameRecord[]> {
      const names: NameRecord[] = [];
      const pages = paginateListObjectsV2({ client: s3 }, { Bucket: bucket, Prefix: REGISTER_PREFIX.names });
      const objects = (await Array.fromAsync(pages)).flatMap(({ Contents = [] }) => Contents);
      for (const { Key = '' } of objects) {
        const stored = await readStoredName(Key.slice(REGISTER_PREFIX.names.length, -'.json'.length));
        if (stored) names.push(stored.value);
      }
      return names;
    },
    /** `value` is undefined if the record can't be read. */
    async readPartner(client: string): Promise<Stored<PartnerRecord | undefined> | undefined> {
      const stored = await read(partnerKey(client));
      return stored && { value: readPartner(stored.value, client), etag: stored.etag };
    },
    async writePartner(was: Stored<unknown> | undefined, now: PartnerRecord): Promise<void> {
      await write(partnerKey(now.client), was, now);
    },
  };
}

/** What the commands record of a partner's name. The service's functions never read this record. */
const nameRecord = v.strictObject({
  form: v.literal(1),
  name: v.string(),
  /** A `removed` name can be used again. Release 1.0.0 writes the others while a command is under way. */
  state: v.picklist(['adding', 'there', 'removing', 'removed']),
  client: v.optional(v.string()),
  /** Members of release 1.0.0, which this one does not use. */
  madeAs: v.optional(v.unknown()),
  rotation: v.optional(v.unknown()),
});

type NameRecord = v.InferOutput<typeof nameRecord>;

/** Throws if the document is no name record, so that no command changes what it does not understand. */
const readName = (document: unknown): NameRecord => v.parse(nameRecord, document);

const nameKey = (name: string): string => `${REGISTER_PREFIX.names}${name}.json`;
