import { SetupFault } from './setup-fault.ts';
import { readStage, type Stage, type StageInput } from './stage.ts';

/** The stage of that name, or without a name all of them. Throws a SetupFault that names the stages there are. */
export function chooseStages(
  stages: Readonly<Record<string, StageInput>>,
  name: string | undefined,
): Stage[] {
  const known = Object.keys(stages);
  if (name !== undefined && !known.includes(name))
    throw new SetupFault(`There is no stage "${name}" in infra/stages.ts. It has: ${known.join(', ')}.`);
  return (name === undefined ? known : [name]).map((key) => readStage(key, stages[key]));
}
