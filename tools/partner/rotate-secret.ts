import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { CognitoClients } from './cognito-clients.ts';
import { type CommandParts, commandLine, partnerThere } from './command-parts.ts';

/**
 * Adds a second secret to a partner's client and shows it; the old one stays valid. Cognito never shows it again.
 *
 * @param isAgain whether to replace the newer of two secrets, because nobody has seen it or the partner has lost it
 */
export async function rotateSecret(parts: CommandParts, name: string, isAgain: boolean): Promise<void> {
  const { stage, say } = parts;
  const cognito = cognitoOf(parts);
  const { client } = await partnerThere(parts, name);
  const [, newer] = await cognito.listSecrets(client);
  if (newer !== undefined && !isAgain)
    throw new OperatorFault(
      `"${name}" has two good secrets already. When it uses the new one: ${commandLine('rotate', parts, name)} --finish; ` +
        'to show another new one, if it is lost: --again',
    );
  if (newer !== undefined) await cognito.removeSecret(client, newer);
  say(
    `Partner ${name} of stage ${stage}, a second secret:`,
    `  client id      ${client}`,
    `  client secret  ${await cognito.addSecret(client)}   (this once: hand it over now)`,
    'The old secret is good as well. When the partner uses the new one, take the old one away:',
    `  ${commandLine('rotate', parts, name)} --finish`,
  );
}

/** Removes the older secret, so that only the new one is valid. */
export async function finishRotation(parts: CommandParts, name: string): Promise<void> {
  const cognito = cognitoOf(parts);
  const { client } = await partnerThere(parts, name);
  const [older = '', newer] = await cognito.listSecrets(client);
  if (newer !== undefined) await cognito.removeSecret(client, older);
  parts.say(`Partner ${name} has one secret, the one that was made last.`);
}

function cognitoOf({ cognito, stage }: CommandParts): CognitoClients {
  if (cognito) return cognito;
  throw new OperatorFault(`Stage ${stage} has an identity provider of its own. Rotate the secret there.`);
}
