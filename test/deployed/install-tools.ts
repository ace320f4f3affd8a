import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pythonWith } from '../clients/python.ts';
import { NoTools } from '../lane-fault.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/**
 * Puts the emulator, the AWS CLI and cfn-lint into the user's cache, unless they are there already. Resolves to the
 * folder of their commands. Rejects with NoTools if the machine has no Python for them.
 */
export async function installTools(): Promise<string> {
  const packages = (await readFile(REQUIREMENTS, 'utf8')).trim().split('\n');
  const python = await pythonWith('emulator', packages);
  if (!python)
    throw new NoTools('The AWS emulator and cfn-lint need Python 3.11 or later with venv; none is here.');
  return dirname(python);
}
