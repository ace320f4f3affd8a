import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of code that runs with this tree's packages. It is removed when it is disposed of. */
export interface CodeFolder extends Disposable {
  readonly folder: string;
}

/** @param fill puts the code and its `package.json` there */
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
