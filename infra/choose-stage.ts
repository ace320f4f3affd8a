import { SetupFault } from './setup-fault.ts';
import { readStage, type Stage } from './stage.ts';

/** The stage of that name, checked. Throws a SetupFault that names the stages there are. */
export function chooseStage(stages: Readonly<Record<string, unknown>>, name: string | undefined): Stage {
  const known = Object.keys(stages);
  if (name === undefined || !known.includes(name))
    throw new SetupFault(
      `There is no stage "${name ?? ''}". There are: ${known.join(', ')}. ` +
        'Choose one with `-c stage=<name>`, or write your own in stages.ts (docs/deploy.md, "Stages of your own").',
    );
  return readStage(name, stages[name]);
}
