import {
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import {
  fileOf,
  getObject,
  headObject,
  missing,
  putObject,
  seconds,
  statusError,
} from '../s3/memory-client.ts';
import { type StoredFile, type StoredObject, textOf } from '../s3/memory-s3.ts';
import { judge } from './invariants/judge.ts';
import { type Invocation, running } from './invocation.ts';
import { LARGE_BYTES } from './modelled-athena.ts';
import type { Backends } from './parts.ts';
import { type PortOperation, portCall } from './port-call.ts';
import { namedDice } from './random.ts';
import { checkClock, sdkClient } from './sdk-client.ts';
import { BEGINNING, type World } from './world.ts';

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
  readonly file: StoredFile;
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
  const isLarge = (key: string) =>
    key.startsWith('reports/') && athena.queries.get(key.split('/')[1] ?? '')?.isLarge === true;

  function get(input: GetObjectCommandInput) {
    if (input.Bucket !== 'partners') return getObject(s3, input, () => breaksOff(world));
    const text = register.textAt(input.Key ?? '');
    if (text === undefined) throw missing();
    return { Body: { transformToString: async () => text } };
  }

  function put(input: PutObjectCommandInput, by: Invocation) {
    const { Key = '', Body, IfNoneMatch, IfMatch } = input;
    const file = fileOf(input);
    if (file) {
      if (!file.encoding) by.plainFileAt ??= world.time.now();
      const text = textOf(Buffer.from(Body as Uint8Array), file);
      onFile({ key: Key, text, file, by, found: s3.objects.get(Key) });
    }
    judge(world, { 'unconditional-write': IfNoneMatch === undefined && IfMatch === undefined }, () => Key);
    return putObject(s3, input, isLarge(Key) && !file?.encoding ? LARGE_BYTES : undefined);
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
        LastModified: new Date(listedTime({ lastModified })),
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
      return made(readOf('HeadObject', command.input.Key ?? ''), () => headObject(s3, command.input));
    if (command instanceof ListObjectsV2Command)
      return made(readOf('ListObjectsV2', command.input.Prefix ?? ''), () => list(command.input));
    if (!(command instanceof PutObjectCommand)) throw new Error(`unplanned: ${command.constructor.name}`);
    const { Key = '' } = command.input;
    const takesMs = isLarge(Key) ? WRITE_LARGE_MS : WRITE_MS;
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
        if (meets && world.troubles.happens('conditional writes meet', `${by.id}/${by.calls}`))
          throw statusError('ConditionalRequestConflict', 409);
        return effect(by);
      });
    } finally {
      mine.isOver = true;
    }
  }
}

/**
 * The time of a file as listings give it. A world's first files get an old time. Times are whole seconds, so a file that
 * is put back within the first second would otherwise look unchanged.
 */
export const listedTime = ({ lastModified }: { readonly lastModified: number }): number =>
  seconds(lastModified === BEGINNING ? 0 : lastModified);

const readOf = (name: string, key: string): PortOperation => ({ name: `S3 ${name}`, key, takesMs: READ_MS });

/** Whether the connection breaks while the current invocation reads an object. */
function breaksOff(world: World): boolean {
  const by = running.getStore() as Invocation;
  const id = `${by.id}/${by.calls}`;
  const breaks = namedDice(world.seed, `reading ${id}`)() < 3 * world.plan.faults.rate;
  if (!breaks || !world.troubles.happens('reading breaks', id)) return false;
  by.faults.push({ kind: 'reading breaks', operation: 'S3 GetObject', key: id });
  return true;
}
