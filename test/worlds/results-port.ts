import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { ResultsBucket, StoredDocument } from '../../lib/delivery/results.ts';
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
  { call, Overloaded }: Pick<ServiceCode, 'call' | 'Overloaded'>,
  until: number,
  onFile: (write: FileWrite) => void,
): ResultsBucket {
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
    return call('S3 PutObject', until, async (signal): Promise<StoredDocument | undefined> => {
      try {
        return await writing({ name: 'S3 PutObject', key, takesMs: WRITE_MS }, signal, () => {
          if (!mayBe(s3.get(key))) return undefined;
          const { etag } = s3.put(key, text);
          return { document, etag, ageMs: 0 };
        });
      } catch (error) {
        if ((error as Error).name === 'ConditionalRequestConflict') return undefined;
        throw error;
      }
    });
  };

  const opened = (key: string) =>
    call('S3 GetObject', until, (signal) =>
      portCall(world, readOf('GetObject', key), signal, (by) => {
        const found = s3.get(key);
        return found && { bytes: found.bytes, content: contentOf(world, found, by) };
      }),
    );

  const port = {
    head: (key: string) =>
      call('S3 HeadObject', until, (signal) =>
        portCall(world, readOf('HeadObject', key), signal, () => {
          const found = s3.get(key);
          return (
            found && {
              lastModified: seconds(found.lastModified) * 1_000,
              ageMs: ageMs(found),
              bytes: found.bytes,
              metadata: found.metadata,
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
    openResult: (location: string) => {
      if (!location.startsWith('s3://results/')) throw new Error(`an unplanned location: ${location}`);
      return opened(location.slice('s3://results/'.length));
    },
    openFile: async (key: string) => (await opened(key))?.content,
    async writeOnce(
      key: string,
      { metadata, encoding }: { metadata: Readonly<Record<string, string>>; encoding?: 'gzip' },
      open: () => Promise<AsyncIterable<Uint8Array> | undefined>,
      options: number | { readonly longestTryMs?: number; readonly tries?: number } = {},
    ): Promise<boolean> {
      const { longestTryMs = Number.POSITIVE_INFINITY, tries = Number.POSITIVE_INFINITY } =
        typeof options === 'number' ? { longestTryMs: options } : options;
      const isLarge = isOfLarge(key);
      let tried = 0;
      const outcome = await call(
        'S3 PutObject',
        until,
        async (signal): Promise<boolean | Error> => {
          const source = await open();
          if (!source) return false;
          try {
            const chunks: Buffer[] = [];
            for await (const chunk of source) chunks.push(Buffer.from(chunk));
            signal.throwIfAborted();
            const content = Buffer.concat(chunks);
            const takesMs = isLarge ? WRITE_LARGE_MS : WRITE_MS;
            const by = running.getStore() as Invocation;
            await writing({ name: 'S3 PutObject', key, takesMs }, signal, () => {
              const found = s3.get(key);
              const more = {
                metadata,
                ...(encoding && { encoding }),
                ...(isLarge && !encoding && { bytes: LARGE_BYTES }),
              };
              const text = textOf(content, encoding);
              onFile({ key, text, metadata, by, found });
              if (!found) s3.put(key, content, more);
              return undefined;
            });
          } catch (error) {
            // As in production: what is wrong with the content is no failure of the call.
            if ((error as Error).name === 'NotEngineCsv') return error as Error;
            tried += 1;
            if (tried >= tries)
              throw new Overloaded('given up after its last try', 30, { cause: error as Error });
            throw error;
          }
          return true;
        },
        longestTryMs,
      );
      if (typeof outcome !== 'boolean') throw outcome;
      return outcome;
    },
    presign: async (key: string, expiresInSeconds: number) =>
      `https://results.example/${key}?until=${world.time.now() + expiresInSeconds * 1_000}`,
  };

  const isOfLarge = (key: string): boolean =>
    (s3.get(`athena/${key.split('/')[1]}.csv`)?.bytes ?? 0) === LARGE_BYTES;
  return port;
}

function contentOf(world: World, { content }: StoredObject, by: Invocation): Readable {
  const id = `${by.id}/${by.calls}`;
  // A copy: whoever reads it writes over it.
  const copy = Buffer.from(content);
  const breaks = namedDice(world.seed, `reading ${id}`)() < 3 * world.plan.faults.rate;
  if (!breaks || !world.troubles.happens('reading breaks', id)) return Readable.from([copy]);
  by.faults.push({ kind: 'reading breaks', operation: 'S3 GetObject' });
  return Readable.from(
    (async function* () {
      yield copy.subarray(0, 5);
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
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
