import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gzipped, gzippedChunks } from '../../../lib/results/gzipped.ts';

const TEXT = 'Day,Clicks\n'.repeat(50_000);

async function* chunks() {
  for (let at = 0; at < TEXT.length; at += 1_000) yield Buffer.from(TEXT.slice(at, at + 1_000));
}

const whole = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(chunks));

it('gzipped gives bytes that decode to the original text', async () => {
  const gzip = await gzipped(Buffer.from(TEXT));
  expect(gunzipSync(gzip).toString()).toBe(TEXT);
  expect(gzip.length).toBeLessThan(TEXT.length / 100);
});

describe('gzippedChunks', () => {
  it('gives, piece by piece, bytes that decode to the original text', async () => {
    expect(gunzipSync(await whole(gzippedChunks(chunks()))).toString()).toBe(TEXT);
  });

  it('passes an error of its source on to its reader', async () => {
    const boom = new Error('boom');
    const broken = (async function* () {
      yield Buffer.from('Day\n');
      throw boom;
    })();
    await expect(whole(gzippedChunks(broken))).rejects.toBe(boom);
  });
});
