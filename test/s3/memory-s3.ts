import { gunzipSync } from 'node:zlib';
import type { ReportFile } from '../../lib/results/results-bucket.ts';

export interface StoredObject {
  readonly etag: string;
  /** By S3's clock, in milliseconds since 1970. */
  readonly lastModified: number;
  readonly content: Buffer;
  /** The size that S3 tells: large objects hold less than they say. */
  readonly bytes: number;
  /** What a report's file was stored with. */
  readonly file?: ReportFile;
  /** The content as text, decoded if the file is gzipped. */
  readonly text: string;
  /** The content parsed as JSON; undefined if it is not JSON. */
  readonly document: unknown;
}

interface Written {
  readonly file?: ReportFile;
  /** The size to tell, where it is not that of the content. */
  readonly bytes?: number;
}

/** `If-None-Match: *` or `If-Match`. */
export type Condition = 'absent' | { readonly etag: string };

/** The objects of one bucket in memory. It calls nobody and takes no time: whoever uses it adds that. */
export interface MemoryS3 {
  readonly objects: Map<string, StoredObject>;
  readonly now: () => number;
  get(key: string): StoredObject | undefined;
  put(key: string, content: string | Uint8Array, more?: Written): StoredObject;
  /** Undefined, and nothing written, where the condition does not hold. */
  putIf(
    condition: Condition,
    key: string,
    content: string | Uint8Array,
    more?: Written,
  ): StoredObject | undefined;
}

/** @param now S3's clock */
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
    // A copy: whoever gave it may write over it.
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
export const textOf = (content: Buffer, file: ReportFile | undefined): string =>
  (file?.encoding ? gunzipSync(content) : content).toString();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
