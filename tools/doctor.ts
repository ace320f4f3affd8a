/** `npm run doctor -- <stage>`: prints which limit a stage reaches first, and what to mend. It changes nothing. */
import { chooseStage, ownStages } from '../infra/choose-stage.ts';
import { stages } from '../infra/stages.ts';
import { OperatorFault, reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { describeDiagnosis, diagnose } from './doctor/diagnose.ts';
import { healthChecks } from './doctor/health.ts';
import { type Look, QUOTAS, quotaKeys, readQuotas } from './doctor/quotas.ts';
import { parseOptions, TEXT, wordsOf } from './parse-options.ts';
import { readStageOutputs } from './stage-stacks.ts';

const USAGE = 'npm run doctor -- <stage> [--stages <file>]';

/**
 * Prints which limit a stage reaches first and, if it is deployed, what is wrong with it. A call that AWS refuses is
 * named, and the rest is shown.
 */
export async function doctorCommand(args: readonly string[], tell: typeof say): Promise<void> {
  const { values, positionals } = parseOptions(args, { stages: TEXT });
  const [name] = wordsOf(positionals, USAGE);
  const stage = chooseStage({ ...stages, ...(await ownStages(values.stages)) }, name);
  const unseen: string[] = [];
  const look = lookOf(unseen);
  const quotas = await readQuotas(look);
  const { limits, findings } = diagnose(quotas, stage);
  const outputs = await look("the stacks' outputs", () => readStageOutputs(name));
  for (const { what, find } of outputs ? healthChecks(stage, outputs) : []) {
    const finding = await look(what, find);
    if (finding) findings.push(finding);
  }
  tell(...describeDiagnosis(limits, findings));
  for (const key of quotaKeys)
    if (!quotas[key]) tell(`AWS does not tell "${QUOTAS[key].name}" of this account.`);
  if (unseen.length > 0) tell('Not seen, so it may be wrong:', ...unseen.map((line) => `  ${line}`));
  tell(
    'Only AWS can compare each resource with its stack (docs/runbook.md#something-was-changed-by-hand):',
    `  npx cdk drift -c stage=${name}`,
  );
}

const lookOf =
  (unseen: string[]): Look =>
  async (what, act) => {
    try {
      return await act();
    } catch (error) {
      // Without credentials or a region, nothing can be seen: `faultLine` says so.
      if (!(error instanceof Error) || !(error instanceof OperatorFault || '$metadata' in error)) throw error;
      const [line] = error.message.split('\n');
      unseen.push(`${what}: ${error instanceof OperatorFault ? '' : `${(error as Error).name}: `}${line}`);
      return undefined;
    }
  };

if (import.meta.main) await reportingFaults(() => doctorCommand(process.argv.slice(2), say));
