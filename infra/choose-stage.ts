import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';
import { readStage, type Stage } from './stage.ts';

/**
 * The checked settings of the stage with this name. If there is no such stage, throws an OperatorFault that names all
 * stages.
 */
export function chooseStage(stages: Readonly<Record<string, unknown>>, name: string | undefined): Stage {
  const names = Object.keys(stages);
  if (name === undefined || !names.includes(name))
    throw new OperatorFault(
      `There is no stage "${name ?? ''}". There are: ${names.join(', ')}. ` +
        'Choose one with `-c stage=<name>`, or write your own in stages.ts (docs/deploy.md, "Stages of your own").',
    );
  return readStage(name, stages[name]);
}

/** The file with the operator's own stages. It does not belong to the product, so no upgrade touches it. */
const OWN_STAGES = join(import.meta.dirname, '../stages.ts');

/**
 * Reads the operator's own stages, by name. There are none if there is no file.
 *
 * @param path another file than `stages.ts`, relative to the working directory; it must exist
 */
export async function ownStages(path?: string): Promise<Readonly<Record<string, unknown>>> {
  const file = path === undefined ? OWN_STAGES : resolve(path);
  if (path === undefined && !existsSync(file)) return {};
  if (!existsSync(file)) throw new OperatorFault(`There is no file ${file}, which \`-c stages\` names.`);
  const { stages } = await import(pathToFileURL(file).href);
  if (typeof stages !== 'object' || stages === null)
    throw new OperatorFault(`${file} exports no stages. It needs: export const stages = { <name>: { … } };`);
  return stages;
}

/** What an operator chooses for one deployment, in addition to the stage. */
export interface DeploymentFlags {
  /**
   * Whether the stage has no successful deployment yet. The deployment then protects nothing from deletion, so that it
   * can be repeated after a failure (docs/deploy.md, "First deployment").
   */
  readonly isFirst: boolean;
  /** Whether the new release passes the gate without a check (docs/deploy.md, "Releases"). */
  readonly isOpen: boolean;
}

/** Reads `-c first=yes` and `-c gate=open`. Throws an OperatorFault if either flag has another value. */
export const readFlags = (context: (key: string) => unknown): DeploymentFlags => ({
  isFirst: isGiven(
    'first=yes',
    context('first'),
    'until a stage\'s first deployment has succeeded, and leave it out from then on (docs/deploy.md, "First deployment")',
  ),
  isOpen: isGiven(
    'gate=open',
    context('gate'),
    'for a release that no check may stop, and leave it out otherwise (docs/deploy.md, "Releases")',
  ),
});

function isGiven(flag: string, value: unknown, use: string): boolean {
  const [key, meant] = flag.split('=');
  if (value !== undefined && value !== meant)
    throw new OperatorFault(`\`-c ${key}=${value}\` means nothing. Say \`-c ${flag}\` ${use}.`);
  return value === meant;
}
