import { join } from 'node:path';
import { runProgram } from '../clients/run-program.ts';
import { ownFolder } from '../own-folder.ts';

/** A folder with the files that a program beside this file writes, for all tests of a file. Without Python, it is empty. */
export async function writtenBy(python: string, program: string): Promise<string> {
  const home = await ownFolder();
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  if (python) await runProgram(python, [join(import.meta.dirname, program), home], { env });
  return home;
}
