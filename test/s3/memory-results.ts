import { Readable } from 'node:stream';
import type { LargeFiles, ReportFile, ResultsBucket } from '../../lib/results/results-bucket.ts';
import type { Condition, MemoryS3, StoredObject } from './memory-s3.ts';

/** The S3 operation behind each method of the bucket. */
const OPERATIONS = {
  head: 'HeadObject',
  read: 'GetObject',
  create: 'PutObject',
  replace: 'PutObject',
  readResult: 'GetObject',
  openResult: 'GetObject',
  writeFile: 'PutObject',
  uploadFile: 'PutObject',
} as const;

type Method = keyof typeof OPERATIONS;

/** One call of a method of the bucket. */
interface BucketCall {
  readonly method: Method;
  readonly operation: (typeof OPERATIONS)[Method];
  readonly key: string;
  /** How long one try may take, and how many tries there may be (`lib/aws/call.ts`). */
  readonly limits: { readonly longestTryMs?: number; readonly tries?: number };
}

/** Makes a call, with all its tries: what each user of the bucket adds. `act` is the effect of one try. */
export type Around = <T>(call: BucketCall, act: () => T | Promise<T>) => Promise<T>;

/** The limit for one try to write a small file. Large files have no such limit. */
const SMALL_FILE_TRY_MS = 5_000;

/** The results bucket with the interfaces of `lib/results`, over objects in memory. */
export function memoryResults(
  s3: MemoryS3,
  around: Around = async (_call, act) => act(),
): ResultsBucket & LargeFiles {
  const perform = <T>(
    method: Method,
    key: string,
    act: () => T | Promise<T>,
    limits: BucketCall['limits'] = {},
  ) => around({ method, operation: OPERATIONS[method], key, limits }, act);

  const ageMs = ({ lastModified }: StoredObject): number =>
    Math.max(0, seconds(s3.now()) - seconds(lastModified)) * 1_000;

  const writeDocument = (method: Method, key: string, document: unknown, condition: Condition) => {
    const text = JSON.stringify(document);
    return perform(method, key, () => {
      const stored = s3.putIf(condition, key, text);
      return stored && { document, etag: stored.etag, ageMs: 0 };
    });
  };

  const storeFile = (key: string, content: Buffer, file: ReportFile) =>
    void s3.putIf('absent', key, content, { file });

  return {
    head: (key) =>
      perform('head', key, () => {
        const found = s3.get(key);
        return found && { ageMs: ageMs(found), bytes: found.bytes };
      }),
    read: (key) =>
      perform('read', key, () => {
        const found = s3.get(key);
        return found && { document: found.document, etag: found.etag, ageMs: ageMs(found) };
      }),
    create: (key, document) => writeDocument('create', key, document, 'absent'),
    replace: (was, key, document) => writeDocument('replace', key, document, was),
    async readResult(location, maxBytes) {
      const key = keyOf(location);
      return perform('readResult', key, () => {
        const found = s3.get(key);
        if (!found) return undefined;
        const { bytes } = found;
        if (bytes > maxBytes) return { bytes };
        // Like the SDK, this gives a Uint8Array and not a Buffer, and a copy.
        return { bytes, content: new Uint8Array(found.content) };
      });
    },
    async openResult(location) {
      const key = keyOf(location);
      return perform('openResult', key, () => {
        const found = s3.get(key);
        return found && Readable.from([Buffer.from(found.content)]);
      });
    },
    async writeFile(key, file, content, tries) {
      // A copy, because the caller may write over the chunks later.
      const whole = Buffer.from(content);
      const limits = { longestTryMs: SMALL_FILE_TRY_MS, ...(tries !== undefined && { tries }) };
      await perform('writeFile', key, () => storeFile(key, whole, file), limits);
    },
    async uploadFile(key, file, open) {
      const uploads = async (): Promise<number | Error | undefined> => {
        const source = await open();
        if (!source) return undefined;
        try {
          const content = await contentOf(source);
          storeFile(key, content, file);
          return content.length;
        } catch (error) {
          // As in production, a fault of the content is no failure of the call.
          if (error instanceof Error && error.name === 'NotEngineCsv') return error;
          throw error;
        }
      };
      const outcome = await perform('uploadFile', key, uploads, { longestTryMs: Number.POSITIVE_INFINITY });
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    locationOf: (key) => `s3://${BUCKET}/${key}`,
    presign: async (key, expiresInSeconds) =>
      `https://results.example/${key}?until=${s3.now() + expiresInSeconds * 1_000}`,
  };
}

async function contentOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  // Copies, because the source may write over a piece when the next one is requested.
  for await (const piece of source) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

const BUCKET = 'results';

const seconds = (time: number): number => Math.floor(time / 1_000);

/**
 * The key of an object.
 *
 * @param location `s3://results/key`
 */
export function keyOf(location: string): string {
  const { hostname, pathname } = new URL(location);
  if (hostname !== BUCKET) throw new Error(`unplanned location: ${location}`);
  return decodeURIComponent(pathname.slice(1));
}
