import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { StageOutputs } from '../stage-outputs.ts';
import type { CognitoClients } from './cognito-clients.ts';
import type { RegisterBucket } from './register-bucket.ts';

/** What every partner command works with. */
export interface CommandParts {
  readonly stage: string;
  readonly outputs: StageOutputs;
  readonly register: RegisterBucket;
  /** Undefined if the stage uses another identity provider than Cognito. */
  readonly cognito: CognitoClients | undefined;
  /** Prints lines for the operator immediately. */
  readonly say: (...lines: readonly string[]) => void;
}

export const commandLine = (command: string, { stage }: CommandParts, name: string): string =>
  `npm run partner -- ${command} ${stage} ${name}`;

/** The client of a partner that is there. Otherwise throws an OperatorFault that says what to do. */
export async function partnerThere(parts: CommandParts, name: string): Promise<{ readonly client: string }> {
  const { state = 'removed', client } = (await parts.register.readName(name))?.value ?? {};
  if (state === 'removed')
    throw new OperatorFault(
      `Stage ${parts.stage} has no partner "${name}". List them: npm run partner -- list ${parts.stage}`,
    );
  // Release 1.0.0 has these states, of commands that were killed.
  if (state !== 'there' || client === undefined)
    throw new OperatorFault(
      `"${name}" was not finished by an older version. ${commandLine('remove', parts, name)}`,
    );
  return { client };
}
