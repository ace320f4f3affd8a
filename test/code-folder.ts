import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of code that uses this tree's packages. Disposing of the object removes the folder. */
export interface CodeFolder extends Disposable {
  readonly folder: string;
}

/**
 * Makes a temporary folder of code.
 *
 * @param fill puts the code and its `package.json` into the folder
 */
export function codeFolder(fill: (folder: string) => void): CodeFolder {
  const folder = mkdtempSync(join(tmpdir(), 'performance-reports-code-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    fill(folder);
    symlinkSync(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'));
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, [Symbol.dispose]: remove };
}
