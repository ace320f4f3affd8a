import {
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { ReportFile } from '../../lib/results/results-bucket.ts';
import { type StoredObject, textOf } from '../s3/memory-s3.ts';
import { type Invocation, running } from './invocation.ts';
import { LARGE_BYTES } from './modelled-athena.ts';
import type { Backends } from './parts.ts';
import { type PortOperation, portCall } from './port-call.ts';
import { namedDice } from './random.ts';
import { checkClock, sdkClient, statusError } from './sdk-client.ts';
import type { World } from './world.ts';

const READ_MS = [12, 40] as const;
const WRITE_MS = [25, 80] as const;
/** Two writes to one key may conflict if they begin within this time. */
const MEETING_MS = 80;
/** The least and the most time to re-type and upload a large file. */
const WRITE_LARGE_MS = [3_000, 60_000] as const;
/** S3 refuses a request whose time differs by more than this. */
const SKEW = { mostMs: 900_000, name: 'RequestTimeTooSkewed', status: 403 };

/** A write of a report's file. It is passed to `onFile` before the file is stored or found to exist. */
export interface FileWrite {
  readonly key: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly by: Invocation;
  /** The object that the key already has. */
  readonly found: StoredObject | undefined;
}

/** The client of S3 that one function uses: for the results, the lake and the register, each a bucket of its own. */
export function s3Client(
  world: World,
  { s3, lake, register, athena }: Backends,
  onFile: (write: FileWrite) => void,
): S3Client {
  const found = (given: StoredObject) => ({
    ETag: given.etag,
    LastModified: new Date(seconds(given.lastModified)),
    ContentLength: given.bytes,
  });

  function get({ Bucket, Key = '' }: GetObjectCommandInput) {
    if (Bucket === 'partners') {
      const text = register.textAt(Key);
      if (text === undefined) throw missing();
      return { Body: { transformToString: async () => text } };
    }
    const stored = s3.get(Key);
    if (!stored) throw missing();
    const isBroken = breaksOff(world);
    return { ...found(stored), Body: bodyOf(stored.content, isBroken) };
  }

  function head({ Key = '' }: { readonly Key?: string | undefined }) {
    const stored = s3.get(Key);
    if (!stored) throw new NotFound({ message: '', $metadata: { httpStatusCode: 404 } });
    return found(stored);
  }

  function put(input: PutObjectCommandInput, by: Invocation) {
    const { Key = '', Body, IfNoneMatch, IfMatch } = input;
    const content = Buffer.from(Body as string | Uint8Array as Uint8Array);
    const file = Key.startsWith('reports/') ? fileOf(input) : undefined;
    if (file) {
      if (!file.encoding) by.plainFileAt ??= world.time.now();
      const { metadata } = file;
      onFile({ key: Key, text: textOf(content, file), metadata, by, found: s3.objects.get(Key) });
    }
    const isLarge = file && !file.encoding && athena.queries.get(Key.split('/')[1] ?? '')?.isLarge;
    const more = { ...(file && { file }), ...(isLarge && { bytes: LARGE_BYTES }) };
    if (IfNoneMatch === undefined && IfMatch === undefined) world.violate('unconditional-write', Key);
    const written =
      IfMatch === undefined
        ? s3.putIf('absent', Key, content, more)
        : s3.putIf({ etag: IfMatch }, Key, content, more);
    if (written) return { ETag: written.etag };
    throw IfMatch !== undefined && !s3.objects.has(Key) ? missing() : statusError('PreconditionFailed', 412);
  }

  function list({
    Prefix = '',
    StartAfter = '',
    ContinuationToken,
    MaxKeys = 1_000,
  }: ListObjectsV2CommandInput) {
    if (!world.plan.settings.isListed) throw statusError('AccessDenied', 403);
    const after = ContinuationToken ?? StartAfter;
    const all = [...lake.now().files.values()]
      .filter(({ key }) => key.startsWith(Prefix) && key > after)
      .sort((one, other) => (one.key < other.key ? -1 : 1));
    const page = all.slice(0, Math.min(MaxKeys, world.plan.settings.keysAPage));
    return {
      Contents: page.map(({ key, etag, bytes, lastModified }) => ({
        Key: key,
        ETag: etag,
        Size: bytes,
        LastModified: new Date(seconds(lastModified)),
      })),
      ...(page.length < all.length && { NextContinuationToken: page.at(-1)?.key }),
    };
  }

  return sdkClient(world, (command, signal, signedAt) => {
    const made = <T>(operation: PortOperation, effect: (by: Invocation) => T): Promise<T> =>
      portCall(world, operation, signal, (by) => {
        checkClock(world, signedAt, SKEW);
        return running.run(by, () => effect(by));
      });
    if (command instanceof GetObjectCommand) {
      const { Bucket, Key = '' } = command.input;
      return made(readOf('GetObject', Bucket === 'partners' ? Key.slice(0, 18) : Key), () =>
        get(command.input),
      );
    }
    if (command instanceof HeadObjectCommand)
      return made(readOf('HeadObject', command.input.Key ?? ''), () => head(command.input));
    if (command instanceof ListObjectsV2Command)
      return made(readOf('ListObjectsV2', command.input.Prefix ?? ''), () => list(command.input));
    if (!(command instanceof PutObjectCommand)) throw new Error(`unplanned: ${command.constructor.name}`);
    const { Key = '' } = command.input;
    const isLarge = Key.startsWith('reports/') && athena.queries.get(Key.split('/')[1] ?? '')?.isLarge;
    const takesMs = isLarge ? WRITE_LARGE_MS : WRITE_MS;
    return meeting(Key, made, { name: 'S3 PutObject', key: Key, takesMs }, (by) => put(command.input, by));
  }) as unknown as S3Client;

  /** S3 may refuse one of two conditional writes at the same time, whatever object the key has. */
  async function meeting<T>(
    key: string,
    made: (operation: PortOperation, effect: (by: Invocation) => T) => Promise<T>,
    operation: PortOperation,
    effect: (by: Invocation) => T,
  ): Promise<T> {
    const mine = { at: world.time.now(), isOver: false };
    const isRecent = ({ at }: typeof mine) => at > world.time.now() - MEETING_MS;
    s3.writing.set(key, [...(s3.writing.get(key) ?? []).filter(isRecent), mine]);
    try {
      return await made(operation, (by) => {
        const meets = s3.writing
          .get(key)
          ?.some((other) => other !== mine && !other.isOver && isRecent(other));
        const kind = 'conditional writes meet';
        if (!meets || !world.troubles.happens(kind, `${by.id}/${by.calls} ${operation.name}`))
          return effect(by);
        by.faults.push({ kind, operation: operation.name, key });
        throw statusError('ConditionalRequestConflict', 409);
      });
    } finally {
      mine.isOver = true;
    }
  }
}

const readOf = (name: string, key: string): PortOperation => ({ name: `S3 ${name}`, key, takesMs: READ_MS });

const seconds = (time: number): number => Math.floor(time / 1_000) * 1_000;

const missing = () => new NoSuchKey({ message: '', $metadata: { httpStatusCode: 404 } });

/** What S3 keeps beside the content of a report's file. */
const fileOf = ({
  ContentDisposition,
  ContentEncoding,
  Metadata = {},
}: PutObjectCommandInput): ReportFile => ({
  fileName: /filename="(.*)"/.exec(ContentDisposition ?? '')?.[1] ?? '',
  metadata: Metadata,
  ...(ContentEncoding === 'gzip' && { encoding: 'gzip' }),
});

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

/** Whether the connection breaks while the current invocation reads an object. */
function breaksOff(world: World): boolean {
  const by = running.getStore() as Invocation;
  const id = `${by.id}/${by.calls}`;
  const breaks = namedDice(world.seed, `reading ${id}`)() < 3 * world.plan.faults.rate;
  if (!breaks || !world.troubles.happens('reading breaks', id)) return false;
  by.faults.push({ kind: 'reading breaks', operation: 'S3 GetObject', key: id });
  return true;
}
