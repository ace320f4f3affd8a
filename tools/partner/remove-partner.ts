import { byOwner } from '../../lib/report/catalogue.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { CommandParts } from './command-parts.ts';

/**
 * Removes a partner: first its rights, then its client in Cognito, if the stage uses Cognito, and those that killed
 * commands have left. An inactive record without companies and contact stays. The command can be repeated.
 *
 * @param confirm throws if the operator does not want this
 */
export async function removePartner(
  parts: CommandParts,
  name: string,
  confirm: (loss: string) => Promise<void>,
): Promise<void> {
  const { register, cognito, stage, say } = parts;
  const stored = await register.readName(name);
  const isMade = RegExp(`^${name}\\.[0-9a-f]{12}$`);
  const made = ((await cognito?.list()) ?? []).filter((listed) => isMade.test(listed.name));
  if (!stored && made.length === 0)
    throw new OperatorFault(
      `Stage ${stage} has no partner "${name}". List them: npm run partner -- list ${stage}`,
    );
  if (made.length === 0 && stored?.value.state === 'removed')
    return say(`Partner ${name} of stage ${stage} is removed.`);
  await confirm(
    `Partner ${name} of stage ${stage} loses its rows and its client for good. Only its name can come back.`,
  );

  const client = stored?.value.client;
  const was = client === undefined ? undefined : await register.readPartner(client);
  // A record that can't be read counts as this partner's, because its key names this partner's client.
  if (client !== undefined && was && (!was.value || was.value.name === name))
    await register.writePartner(was, {
      form: 1,
      client,
      name,
      ...byOwner(() => []),
      contact: '',
      since: was.value?.since ?? new Date().toISOString(),
      active: false,
    });
  for (const id of new Set([...made.map((listed) => listed.id), ...(client === undefined ? [] : [client])]))
    await cognito?.remove(id);
  await register.writeName(stored, {
    form: 1,
    name,
    state: 'removed',
    ...(client !== undefined && { client }),
  });
  say(
    `Partner ${name} of stage ${stage} is removed. Its requests, those that wait too, end within a minute.`,
  );
  if (!cognito && client !== undefined)
    say(`The client ${client} is still there at the identity provider: take it away there.`);
}
