import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SetupFault } from './setup-fault.ts';

/** The operator's file. It does not belong to the product, so no upgrade touches it. */
const OWN_STAGES = join(import.meta.dirname, '../stages.ts');

/**
 * The operator's own stages, by name; none where there is no such file.
 *
 * @param path another file than `stages.ts`, relative to the working directory; it must be there
 */
export async function ownStages(path?: string): Promise<Readonly<Record<string, unknown>>> {
  const file = path === undefined ? OWN_STAGES : resolve(path);
  if (path === undefined && !existsSync(file)) return {};
  if (!existsSync(file)) throw new SetupFault(`There is no file ${file}, which \`-c stages\` names.`);
  const { stages } = await import(pathToFileURL(file).href);
  if (typeof stages !== 'object' || stages === null)
    throw new SetupFault(`${file} exports no stages. It needs: export const stages = { <name>: { … } };`);
  return stages;
}
