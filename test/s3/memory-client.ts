import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { MemoryS3, StoredFile, StoredObject } from './memory-s3.ts';

/** Makes one try of a call. `act` is its effect. */
export type Around = (operation: string, key: string, act: () => object) => Promise<object>;

/** A client of S3, as the service's own adapters use it, over objects in memory. Uploads in parts know no faults. */
export function memoryClient(s3: MemoryS3, around: Around = async (_, __, act) => act()): S3Client {
  const uploads = new Map<string, { readonly input: PutObjectCommandInput; readonly parts: Uint8Array[] }>();
  const act = (command: object): object => {
    if (command instanceof GetObjectCommand) return getObject(s3, command.input);
    if (command instanceof HeadObjectCommand) return headObject(s3, command.input);
    if (command instanceof PutObjectCommand) return putObject(s3, command.input);
    const { UploadId = `${uploads.size}` } = (command as UploadPartCommand).input;
    const { input, parts } = uploads.get(UploadId) ?? { input: {}, parts: [] };
    if (command instanceof CreateMultipartUploadCommand)
      uploads.set(UploadId, { input: command.input, parts });
    else if (command instanceof UploadPartCommand)
      parts[(command.input.PartNumber ?? 0) - 1] = Uint8Array.from(command.input.Body as Uint8Array);
    else if (command instanceof CompleteMultipartUploadCommand)
      return putObject(s3, {
        ...command.input,
        ...input,
        Body: Buffer.concat(parts),
      } as PutObjectCommandInput);
    else if (!(command instanceof AbortMultipartUploadCommand))
      throw new Error(`unplanned: ${command.constructor.name}`);
    return { UploadId, ETag: '"part"' };
  };
  return {
    config: CONFIG,
    middlewareStack: { add: () => {} },
    async send(command: PutObjectCommand) {
      const name = command.constructor.name.replace('Command', '');
      const answer = await around(name, command.input.Key ?? '', () => act(command));
      return { ...answer, $metadata: { httpStatusCode: 200, date: seconds(s3.now()) } };
    },
  } as unknown as S3Client;
}

/** What the adapters read of a client's settings. */
export const CONFIG = {
  systemClockOffset: 0,
  requestChecksumCalculation: async () => 'WHEN_REQUIRED',
  endpoint: async () => ({ protocol: 'https:', hostname: 's3.example', path: '/' }),
};

interface Place {
  readonly Bucket?: string | undefined;
  readonly Key?: string | undefined;
}

/** The objects are those of the bucket `results`. A call for another bucket is a mistake. */
function keyIn({ Bucket, Key = '' }: Place): string {
  if (Bucket !== 'results') throw new Error(`unplanned: bucket ${Bucket}`);
  return Key;
}

/** The answer to a GetObject. If the connection breaks, its reader gets only the beginning of the content. */
export function getObject(s3: MemoryS3, place: Place, isBroken: () => boolean = () => false) {
  const stored = s3.get(keyIn(place));
  if (!stored) throw missing();
  return { ...factsOf(stored), Body: bodyOf(stored.content, isBroken()) };
}

export function headObject(s3: MemoryS3, place: Place) {
  const stored = s3.get(keyIn(place));
  if (!stored) throw new NotFound({ message: '', $metadata: { httpStatusCode: 404 } });
  return factsOf(stored);
}

/** @param bytes the size to report, if it is not that of the content */
export function putObject(s3: MemoryS3, input: PutObjectCommandInput, bytes?: number) {
  const { Body, IfMatch, IfNoneMatch } = input;
  const key = keyIn(input);
  if (IfMatch === undefined && IfNoneMatch !== '*') throw new Error(`unplanned: ${key} without a condition`);
  const file = fileOf(input);
  const more = { ...(file && { file }), ...(bytes !== undefined && { bytes }) };
  const condition = IfMatch === undefined ? 'absent' : { etag: IfMatch };
  const written = s3.putIf(condition, key, Body as Uint8Array, more);
  if (written) return { ETag: written.etag };
  throw IfMatch !== undefined && !s3.objects.has(key) ? missing() : statusError('PreconditionFailed', 412);
}

/** An error of the kind that the SDK throws. */
export const statusError = (name: string, httpStatusCode: number): Error =>
  new S3ServiceException({ name, $fault: 'client', $metadata: { httpStatusCode } });

export const missing = () => new NoSuchKey({ message: '', $metadata: { httpStatusCode: 404 } });

/** S3 gives times in whole seconds. */
export const seconds = (time: number): number => Math.floor(time / 1_000) * 1_000;

const factsOf = ({ etag, lastModified, bytes }: StoredObject) => ({
  ETag: etag,
  LastModified: new Date(seconds(lastModified)),
  ContentLength: bytes,
});

/** What S3 keeps beside the content of a report's file. */
export const fileOf = ({
  Key,
  ContentDisposition,
  ContentEncoding,
  Metadata = {},
}: PutObjectCommandInput): StoredFile | undefined =>
  Key?.startsWith('reports/')
    ? {
        fileName: /filename="(.*)"/.exec(ContentDisposition ?? '')?.[1] ?? '',
        metadata: Metadata,
        ...(ContentEncoding === 'gzip' && { encoding: 'gzip' }),
      }
    : undefined;

/** The body of an answer. Each read gives a copy of the content, because a reader may write over its chunks. */
const bodyOf = (content: Buffer, isBroken: boolean) => {
  const whole = (): Buffer => {
    if (isBroken) throw reset();
    return Buffer.from(content);
  };
  return {
    transformToString: async () => whole().toString(),
    // Like the SDK, this gives a Uint8Array and not a Buffer.
    transformToByteArray: async () => new Uint8Array(whole()),
    destroy: () => {},
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(isBroken ? content.subarray(0, 5) : content);
      if (isBroken) throw reset();
    },
  };
};

const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
