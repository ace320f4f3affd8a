import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { CognitoClients } from './cognito-clients.ts';
import { type CommandParts, commandLine, partnerThere } from './command-parts.ts';

/**
 * Adds a second secret to a partner's client and shows it; the old one stays valid. A new secret that is not
 * recorded as shown is replaced, because Cognito never shows it again.
 *
 * @param isAgain whether to replace a new secret that was shown already, for example because the partner has lost it
 */
export async function rotateSecret(parts: CommandParts, name: string, isAgain: boolean): Promise<void> {
  const { register, stage, say } = parts;
  const cognito = cognitoOf(parts);
  const { stored, client } = await partnerThere(parts, name);
  const { rotation } = stored.value;
  if (rotation?.state === 'shown' && !isAgain)
    throw new OperatorFault(
      `"${name}" has two good secrets already. When it uses the new one: ${commandLine('rotate', parts, name)} --finish; ` +
        'to show another new one, if it is lost: --again',
    );
  const oldSecret = rotation?.oldSecret ?? (await onlySecret(cognito, client, name));
  const adding = await register.writeName(stored, {
    ...stored.value,
    rotation: { state: 'adding', oldSecret },
  });
  for (const secretId of await cognito.listSecrets(client))
    if (secretId !== oldSecret) await cognito.removeSecret(client, secretId);
  const secret = await cognito.addSecret(client);
  say(
    `Partner ${name} of stage ${stage}, a second secret:`,
    `  client id      ${client}`,
    `  client secret  ${secret}   (this once: hand it over now)`,
  );
  await register.writeName(adding, { ...adding.value, rotation: { state: 'shown', oldSecret } });
  say(
    'The old secret is good as well. When the partner uses the new one, take the old one away:',
    `  ${commandLine('rotate', parts, name)} --finish`,
  );
}

/** Removes the old secret, so that only the new one is valid. */
export async function finishRotation(parts: CommandParts, name: string): Promise<void> {
  const { register, say } = parts;
  const cognito = cognitoOf(parts);
  const { stored, client } = await partnerThere(parts, name);
  const { rotation, ...rest } = stored.value;
  if (rotation?.state === 'adding')
    throw new OperatorFault(
      `The new secret of "${name}" was not shown. Repeat ${commandLine('rotate', parts, name)}`,
    );
  if (rotation) {
    const secrets = await cognito.listSecrets(client);
    if (!secrets.some((secretId) => secretId !== rotation.oldSecret))
      throw new OperatorFault(
        `The new secret of "${name}" is gone from Cognito. Make another: ${commandLine('rotate', parts, name)} --again`,
      );
    if (secrets.includes(rotation.oldSecret)) await cognito.removeSecret(client, rotation.oldSecret);
    await register.writeName(stored, rest);
  }
  say(`Partner ${name} has one secret, the one that was shown last.`);
}

function cognitoOf({ cognito, stage }: CommandParts): CognitoClients {
  if (cognito) return cognito;
  throw new OperatorFault(`Stage ${stage} has an identity provider of its own. Rotate the secret there.`);
}

async function onlySecret(cognito: CognitoClients, client: string, name: string): Promise<string> {
  const [secret, ...more] = await cognito.listSecrets(client);
  if (secret !== undefined && more.length === 0) return secret;
  throw new OperatorFault(
    `The client of "${name}" has ${secret === undefined ? 'no secret' : 'two secrets'} that this command knows nothing ` +
      'of. Leave it one, in the Cognito console.',
  );
}
