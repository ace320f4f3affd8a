import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Transform, type TransformCallback } from 'node:stream';

/** Bytes from `Math.random`, which a world has seeded. */
const randomBytes = (size: number): Buffer =>
  Buffer.from(Array.from({ length: size }, () => Math.floor(Math.random() * 256)));

function randomUUID(): string {
  const hex = randomBytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** The fastest settings. The worlds' files are small, and nothing depends on how well they are packed. */
const QUICK = { level: 1, memLevel: 1, windowBits: 9 };

/**
 * Replaces Node's random ids by ids from a seed, and Node's gzip by a gzip without threads. It must be called before
 * the service's code is loaded.
 */
export function seedCryptoAndGzip(): void {
  const require = createRequire(import.meta.url);
  const zlib = require('node:zlib');
  const { gzipSync } = zlib;
  const pack = (chunks: readonly Buffer[], options?: object): Buffer =>
    gzipSync(Buffer.concat(chunks), { ...options, ...QUICK });
  const createGzip = (options?: object) => {
    const chunks: Buffer[] = [];
    return new Transform({
      transform(chunk: Buffer, _encoding, done: TransformCallback) {
        chunks.push(Buffer.from(chunk));
        done();
      },
      flush(done: TransformCallback) {
        done(null, pack(chunks, options));
      },
    });
  };
  Object.defineProperty(zlib, 'createGzip', { value: createGzip, enumerable: true, configurable: true });
  zlib.gzip = (content: Buffer | string, ...rest: unknown[]) => {
    const done = rest.at(-1) as (error: Error | null, packed: Buffer) => void;
    process.nextTick(done, null, pack([Buffer.from(content)]));
  };
  Object.assign(require('node:crypto'), { randomBytes, randomUUID });
  syncBuiltinESMExports();
}
