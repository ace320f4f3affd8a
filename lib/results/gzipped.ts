import { pipeline } from 'node:stream';
import { constants, createGzip, gzip } from 'node:zlib';

/** The gzip level of small reports; why: docs/decisions/0029-gzip-beside-the-plain-file.md. */
const GZIP_LEVEL = 6;
/** The gzip level of large reports, whose callers wait for the gzipping: three times as fast, 7 % more bytes. */
const LARGE_GZIP_LEVEL = 4;

/** Gzips the chunks (RFC 1952), a few at a time. */
export const gzippedChunks = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  pipeline(
    chunks,
    createGzip({ level: LARGE_GZIP_LEVEL, chunkSize: 64 * 1024, memLevel: constants.Z_MAX_MEMLEVEL }),
    // The reader of the gzipped chunks gets the error.
    () => {},
  );

/** Gzips a whole file. */
export const gzipped = (file: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    gzip(file, { level: GZIP_LEVEL, memLevel: constants.Z_MAX_MEMLEVEL }, (error, bytes) =>
      error ? reject(error) : resolve(bytes),
    );
  });
