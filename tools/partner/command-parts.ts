import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { StageOutputs } from '../stage-outputs.ts';
import type { CognitoClients } from './cognito-clients.ts';
import type { NameRecord, RegisterBucket, Stored } from './register-bucket.ts';

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

/**
 * Finds a partner whose name is in the state `there`. Resolves to the name's record and the client id. If the name is
 * in another state, throws an OperatorFault that says what to do.
 */
export async function partnerThere(
  parts: CommandParts,
  name: string,
): Promise<{ readonly stored: Stored<NameRecord>; readonly client: string }> {
  const stored = await parts.register.readName(name);
  if (!stored || stored.value.state === 'removed')
    throw new OperatorFault(
      `Stage ${parts.stage} has no partner "${name}". List them: npm run partner -- list ${parts.stage}`,
    );
  switch (stored.value.state) {
    case 'adding':
      throw new OperatorFault(
        `"${name}" was not added to the end. Repeat the command that adds it, or ${commandLine('remove', parts, name)}`,
      );
    case 'removing':
      throw new OperatorFault(
        `"${name}" was not removed to the end. Repeat ${commandLine('remove', parts, name)}`,
      );
    case 'there': {
      const { client } = stored.value;
      if (client === undefined) throw new Error(`the name ${name} stands for no client`);
      return { stored, client };
    }
  }
}

/**
 * Removes left-over Cognito clients of a name, except the name's own client. Commands that were killed, or that ran at
 * the same time, have made them.
 */
export async function sweep(
  { cognito }: CommandParts,
  { madeAs, client }: Pick<NameRecord, 'madeAs' | 'client'>,
): Promise<void> {
  if (!cognito || madeAs === undefined) return;
  for (const { id, name } of await cognito.list())
    if (name === madeAs && id !== client) await cognito.remove(id);
}
