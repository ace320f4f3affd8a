import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../clients/run-program.ts';

/** A directory with the files that a program of this folder has written. */
export interface Written extends AsyncDisposable {
  readonly home: string;
}

export async function writtenBy(python: string, program: string): Promise<Written> {
  const home = await mkdtemp(join(tmpdir(), 'sources-'));
  await runProgram(python, [join(import.meta.dirname, program), home], {
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  });
  return { home, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) };
}
