import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { LargeFiles, ReportFile, ResultsBucket, StoredDocument } from '../../lib/delivery/results.ts';
import { type Invocation, running } from './invocation.ts';
import { LARGE_BYTES } from './modelled-athena.ts';
import type { ModelledS3, StoredObject } from './modelled-s3.ts';
import { type PortOperation, portCall, statusError } from './port-call.ts';
import { namedDice } from './random.ts';
import type { ServiceCode } from './service-code.ts';
import type { World } from './world.ts';

const READ_MS = [12, 40] as const;
const WRITE_MS = [25, 80] as const;
/** Writes to one key that begin within this time may meet. */
const MEETING_MS = 80;
/** A large file takes as long as it takes to re-type and to upload it. */
const WRITE_LARGE_MS = [3_000, 60_000] as const;

export const readOf = (name: string, key: string): PortOperation => ({
  name: `S3 ${name}`,
  key,
  takesMs: READ_MS,
});

const seconds = (time: number): number => Math.floor(time / 1_000);

/** What is told of a report's file before it is stored, or found to be there already. */
export interface FileWrite {
  readonly key: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly by: Invocation;
  /** What lies there already. */
  readonly found: StoredObject | undefined;
}

/**
 * The results bucket as `lib/delivery` has it, over the model. Calls are repeated as in production: by the service's
 * own `call`.
 */
export function resultsPort(
  world: World,
  s3: ModelledS3,
  { call }: Pick<ServiceCode, 'call'>,
  until: number,
  onFile: (write: FileWrite) => void,
): ResultsBucket & LargeFiles {
  const ageMs = ({ lastModified }: StoredObject): number =>
    Math.max(0, seconds(world.time.now()) - seconds(lastModified)) * 1_000;

  const documentOf = (stored: StoredObject) => ({
    document: parsed(stored.text),
    etag: stored.etag,
    ageMs: ageMs(stored),
  });

  const writing = (
    operation: PortOperation,
    signal: AbortSignal,
    write: () => StoredDocument | undefined,
  ) => {
    const { key } = operation;
    const mine = { at: world.time.now(), isOver: false };
    const recent = (s3.writing.get(key) ?? []).filter(({ at }) => at > mine.at - MEETING_MS);
    s3.writing.set(key, [...recent, mine]);
    return portCall(world, operation, signal, (by) => {
      const meets = (s3.writing.get(key) ?? []).some(
        (other) => other !== mine && !other.isOver && other.at > world.time.now() - MEETING_MS,
      );
      // S3 may refuse one of two conditional writes at one time, whatever the key holds.
      if (meets && world.troubles.happens('conditional writes meet', `${by.id}/${by.calls}`))
        throw statusError('ConditionalRequestConflict', 409);
      return write();
    }).finally(() => {
      mine.isOver = true;
    });
  };

  const put = (key: string, document: unknown, mayBe: (found: StoredObject | undefined) => boolean) => {
    const text = JSON.stringify(document);
    return call('S3 PutObject', until, (signal) =>
      writing({ name: 'S3 PutObject', key, takesMs: WRITE_MS }, signal, () => {
        if (!mayBe(s3.get(key))) return undefined;
        const { etag } = s3.put(key, text);
        return { document, etag, ageMs: 0 };
      }),
    );
  };

  const opened = (key: string) =>
    call('S3 GetObject', until, (signal) =>
      portCall(world, readOf('GetObject', key), signal, (by) => {
        const found = s3.get(key);
        return found && { bytes: found.bytes, content: contentOf(world, found, by) };
      }),
    );

  /** Writes a file under `reports/`, unless it is there. */
  const writeReport = (
    key: string,
    content: Buffer,
    file: ReportFile,
    signal: AbortSignal,
    takesMs: readonly [number, number],
  ) => {
    const by = running.getStore() as Invocation;
    return writing({ name: 'S3 PutObject', key, takesMs }, signal, () => {
      const found = s3.get(key);
      const { metadata, encoding } = file;
      const isLarge = takesMs === WRITE_LARGE_MS && !encoding;
      if (!encoding) by.plainFileAt ??= world.time.now();
      onFile({ key, text: textOf(content, encoding), metadata, by, found });
      if (!found)
        s3.put(key, content, {
          metadata,
          ...(encoding && { encoding }),
          ...(isLarge && { bytes: LARGE_BYTES }),
        });
      return undefined;
    });
  };

  const port = {
    head: (key: string) =>
      call('S3 HeadObject', until, (signal) =>
        portCall(world, readOf('HeadObject', key), signal, () => {
          const found = s3.get(key);
          return (
            found && {
              ageMs: ageMs(found),
              bytes: found.bytes,
            }
          );
        }),
      ),
    read: (key: string) =>
      call('S3 GetObject', until, (signal) =>
        portCall(world, readOf('GetObject', key), signal, () => {
          const found = s3.get(key);
          return found && documentOf(found);
        }),
      ),
    create: (key: string, document: unknown) => put(key, document, (found) => found === undefined),
    replace: ({ etag }: StoredDocument, key: string, document: unknown) =>
      put(key, document, (found) => found?.etag === etag),
    async readResult(location: string, maxBytes: number) {
      return call('S3 GetObject', until, (signal) =>
        portCall(world, readOf('GetObject', keyOf(location)), signal, (by) => {
          const found = s3.get(keyOf(location));
          if (found && found.bytes <= maxBytes && breaksOff(world, by)) throw connectionReset();
          return (
            found && {
              bytes: found.bytes,
              ...(found.bytes <= maxBytes && { content: Buffer.from(found.content) }),
            }
          );
        }),
      );
    },
    openResult: async (location: string) => (await opened(keyOf(location)))?.content,
    writeFile: (key: string, file: ReportFile, content: Uint8Array, tries?: number) =>
      call(
        'S3 PutObject',
        until,
        async (signal) => {
          await writeReport(key, Buffer.from(content), file, signal, WRITE_MS);
        },
        { longestTryMs: 5_000, ...(tries !== undefined && { tries }) },
      ),
    async uploadFile(
      key: string,
      file: ReportFile,
      open: () => Promise<AsyncIterable<Uint8Array> | undefined>,
    ): Promise<number | undefined> {
      const outcome = await call(
        'S3 PutObject',
        until,
        async (signal): Promise<number | Error | undefined> => {
          const source = await open();
          if (!source) return undefined;
          try {
            const chunks: Buffer[] = [];
            for await (const chunk of source) chunks.push(Buffer.from(chunk));
            signal.throwIfAborted();
            const content = Buffer.concat(chunks);
            await writeReport(key, content, file, signal, WRITE_LARGE_MS);
            return content.length;
          } catch (error) {
            // As in production: what is wrong with the content is no failure of the call.
            if ((error as Error).name === 'NotEngineCsv') return error as Error;
            throw error;
          }
        },
        { longestTryMs: Number.POSITIVE_INFINITY },
      );
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    locationOf: (key: string) => `s3://results/${key}`,
    presign: async (key: string, expiresInSeconds: number) =>
      `https://results.example/${key}?until=${world.time.now() + expiresInSeconds * 1_000}`,
  };

  return port;
}

const RESULTS = 's3://results/';

function keyOf(location: string): string {
  if (!location.startsWith(RESULTS)) throw new Error(`an unplanned location: ${location}`);
  return location.slice(RESULTS.length);
}

const connectionReset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** Whether the connection breaks while this invocation reads a content. */
function breaksOff(world: World, by: Invocation): boolean {
  const id = `${by.id}/${by.calls}`;
  const breaks = namedDice(world.seed, `reading ${id}`)() < 3 * world.plan.faults.rate;
  if (!breaks || !world.troubles.happens('reading breaks', id)) return false;
  by.faults.push({ kind: 'reading breaks', operation: 'S3 GetObject', key: id });
  return true;
}

function contentOf(world: World, { content }: StoredObject, by: Invocation): Readable {
  // A copy: whoever reads it writes over it.
  const copy = Buffer.from(content);
  if (!breaksOff(world, by)) return Readable.from([copy]);
  return Readable.from(
    (async function* () {
      yield copy.subarray(0, 5);
      throw connectionReset();
    })(),
  );
}

const textOf = (content: Buffer, encoding: 'gzip' | undefined): string =>
  (encoding ? gunzipSync(content) : content).toString();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
