import { readFile } from 'node:fs/promises';
import wabt from 'wabt';

/** Resolves to the WebAssembly module of a file in its text format; rejects with the place of a mistake. */
export async function compileWat(file: string): Promise<Buffer> {
  const source = await readFile(file, 'utf8');
  const { parseWat } = await wabt();
  try {
    return Buffer.from(parseWat(file, source).toBinary({}).buffer);
  } catch (error) {
    // Without its stack: the compiler is one line of 700 kB, which Node would print with it.
    throw new Error((error as Error).message);
  }
}
