import { chooseStage, ownStages } from '../../infra/choose-stage.ts';
import { stages } from '../../infra/stages.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { parseOptions } from '../parse-options.ts';
import { describeDiagnosis, diagnose } from './diagnose.ts';
import { readMovedAliases } from './moved-aliases.ts';
import { QUOTAS, readQuotas } from './quotas.ts';

const USAGE = 'npm run doctor -- <stage> [--query-seconds <seconds>] [--stages <file>]';

/** The mean duration of a query in the simulated rush, in seconds. */
const QUERY_SECONDS = '8';

/** Prints which limit a stage reaches first, and which aliases were moved by hand. The stage need not be deployed. */
export async function doctorCommand(
  args: readonly string[],
  say: (...lines: string[]) => void,
): Promise<void> {
  const { values, positionals } = parseOptions({
    args: [...args],
    options: { 'query-seconds': { type: 'string', default: QUERY_SECONDS }, stages: { type: 'string' } },
    allowPositionals: true,
  });
  const [name, ...more] = positionals;
  const querySeconds = Number(values['query-seconds']);
  if (name === undefined || more.length > 0 || !(querySeconds > 0)) throw new OperatorFault(USAGE);
  const stage = chooseStage({ ...stages, ...(await ownStages(values.stages)) }, name);
  const quotas = await readQuotas();
  const { limits, findings } = diagnose(quotas, stage, querySeconds);
  say(...describeDiagnosis({ limits, findings: [...findings, ...(await readMovedAliases(name))] }));
  for (const [key, { name }] of Object.entries(QUOTAS))
    if (!quotas[key as keyof typeof QUOTAS]) say(`AWS does not tell "${name}" of this account.`);
}
