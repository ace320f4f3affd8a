import type { LargeFiles, ResultsBucket } from '../../lib/results/results-bucket.ts';
import { type BucketCall, memoryResults } from '../s3/memory-results.ts';
import { type StoredObject, textOf } from '../s3/memory-s3.ts';
import { type Invocation, running } from './invocation.ts';
import { LARGE_BYTES } from './modelled-athena.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import { type PortOperation, portCall, statusError } from './port-call.ts';
import { namedDice } from './random.ts';
import type { ServiceCode } from './service-code.ts';
import type { World } from './world.ts';

const READ_MS = [12, 40] as const;
const WRITE_MS = [25, 80] as const;
/** Two writes to one key may conflict if they begin within this time. */
const MEETING_MS = 80;
/** The least and the most time to re-type and upload a large file. */
const WRITE_LARGE_MS = [3_000, 60_000] as const;

export const readOf = (name: string, key: string): PortOperation => ({
  name: `S3 ${name}`,
  key,
  takesMs: READ_MS,
});

const operationOf = ({ method, operation, key }: BucketCall): PortOperation => {
  if (operation !== 'PutObject') return readOf(operation, key);
  return { name: 'S3 PutObject', key, takesMs: method === 'uploadFile' ? WRITE_LARGE_MS : WRITE_MS };
};

/** A write of a report's file. It is passed to `onFile` before the file is stored or found to exist. */
export interface FileWrite {
  readonly key: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly by: Invocation;
  /** The object that the key already has. */
  readonly found: StoredObject | undefined;
}

/**
 * The results bucket that `lib/delivery` uses, on the modelled S3. The service's own `call` repeats failed calls, as in
 * production.
 */
export const resultsPort = (
  world: World,
  s3: ModelledS3,
  { call }: Pick<ServiceCode, 'call'>,
  until: number,
  onFile: (write: FileWrite) => void,
): ResultsBucket & LargeFiles =>
  memoryResults(s3, {
    largeFileBytes: LARGE_BYTES,
    call: ({ operation, limits }, tryOnce) => call(`S3 ${operation}`, until, tryOnce, limits),
    tryOnce: (made, signal, act) =>
      made.operation === 'PutObject'
        ? write(world, s3, operationOf(made), signal, act)
        : portCall(world, operationOf(made), signal, (by) => running.run(by, act)),
    onFile({ key, content, file, found }) {
      const by = running.getStore() as Invocation;
      if (!file.encoding) by.plainFileAt ??= world.time.now();
      onFile({ key, text: textOf(content, file), metadata: file.metadata, by, found });
    },
    pieces: (content) => (breaksOff(world) ? brokenOff(content) : [content]),
  });

/** Tries once to write. S3 may refuse one of two conditional writes at the same time, whatever object the key has. */
function write<T>(
  world: World,
  { writing }: ModelledS3,
  operation: PortOperation,
  signal: AbortSignal,
  act: () => T,
): Promise<T> {
  const { key } = operation;
  const mine = { at: world.time.now(), isOver: false };
  const isRecent = ({ at }: typeof mine) => at > world.time.now() - MEETING_MS;
  writing.set(key, [...(writing.get(key) ?? []).filter(isRecent), mine]);
  return portCall(world, operation, signal, (by) => {
    const meets = writing.get(key)?.some((other) => other !== mine && !other.isOver && isRecent(other));
    if (meets && world.troubles.happens('conditional writes meet', `${by.id}/${by.calls}`))
      throw statusError('ConditionalRequestConflict', 409);
    return running.run(by, act);
  }).finally(() => {
    mine.isOver = true;
  });
}

/** Whether the connection breaks while the current invocation reads an object. */
function breaksOff(world: World): boolean {
  const by = running.getStore() as Invocation;
  const id = `${by.id}/${by.calls}`;
  const breaks = namedDice(world.seed, `reading ${id}`)() < 3 * world.plan.faults.rate;
  if (!breaks || !world.troubles.happens('reading breaks', id)) return false;
  by.faults.push({ kind: 'reading breaks', operation: 'S3 GetObject', key: id });
  return true;
}

function* brokenOff(content: Buffer): Generator<Buffer> {
  yield content.subarray(0, 5);
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}
