import { gunzipSync } from 'node:zlib';

/** What S3 keeps beside the content of a report's file. */
export interface StoredFile {
  readonly fileName: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly encoding?: 'gzip';
}

export interface StoredObject {
  readonly etag: string;
  /** When the object was written, by S3's clock, in milliseconds since 1970. */
  readonly lastModified: number;
  readonly content: Buffer;
  /** The size that S3 reports. The content of a large object in memory may be smaller. */
  readonly bytes: number;
  readonly file?: StoredFile;
  /** The content as text, decoded if the file is gzipped. */
  readonly text: string;
  /** The content parsed as JSON; undefined if it is not JSON. */
  readonly document: unknown;
}

interface Written {
  readonly file?: StoredFile;
  /** The size to report, if it is not that of the content. */
  readonly bytes?: number;
}

/** The condition of a write: `If-None-Match: *` or `If-Match`. */
type Condition = 'absent' | { readonly etag: string };

/** The objects of one bucket in memory. Calls take no time and never fail: who uses them adds times and faults. */
export interface MemoryS3 {
  readonly objects: Map<string, StoredObject>;
  readonly now: () => number;
  get(key: string): StoredObject | undefined;
  put(key: string, content: string | Uint8Array, more?: Written): StoredObject;
  /** Writes only if the condition holds; otherwise returns undefined. */
  putIf(
    condition: Condition,
    key: string,
    content: string | Uint8Array,
    more?: Written,
  ): StoredObject | undefined;
}

/**
 * Makes a bucket in memory.
 *
 * @param now S3's clock
 */
export function memoryS3(
  now: () => number,
  listeners: {
    readonly onRead?: (key: string, object: StoredObject) => void;
    readonly onCreated?: (key: string, object: StoredObject) => void;
  } = {},
): MemoryS3 {
  const objects = new Map<string, StoredObject>();
  let writes = 0;
  const get: MemoryS3['get'] = (key) => {
    const found = objects.get(key);
    if (found) listeners.onRead?.(key, found);
    return found;
  };
  const put: MemoryS3['put'] = (key, given, more = {}) => {
    // A copy, because the caller may write over `given`.
    const content = Buffer.from(given as Uint8Array);
    const stored: StoredObject = {
      etag: `"${++writes}"`,
      lastModified: now(),
      content,
      bytes: content.length,
      ...more,
      get text() {
        return textOf(content, more.file);
      },
      get document() {
        return parsed(stored.text);
      },
    };
    objects.set(key, stored);
    listeners.onCreated?.(key, stored);
    return stored;
  };
  return {
    objects,
    now,
    get,
    put,
    putIf(condition, key, content, more) {
      const found = get(key);
      const holds = condition === 'absent' ? !found : found?.etag === condition.etag;
      return holds ? put(key, content, more) : undefined;
    },
  };
}

/** The content as text, decoded if the file is gzipped. */
export const textOf = (content: Buffer, file: StoredFile | undefined): string =>
  (file?.encoding ? gunzipSync(content) : content).toString();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
