import type { PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { type CommandParts, sweep } from './command-parts.ts';

/**
 * Removes a partner: first its rights, then its client in Cognito, if the stage uses Cognito. An inactive record
 * without companies and contact stays. The command can be repeated after it was killed at any step.
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
  if (!stored)
    throw new OperatorFault(
      `Stage ${stage} has no partner "${name}". List them: npm run partner -- list ${stage}`,
    );
  if (stored.value.state === 'removed') return say(`Partner ${name} of stage ${stage} is removed.`);
  // A command that was killed had been confirmed.
  if (stored.value.state !== 'removing')
    await confirm(
      `Partner ${name} of stage ${stage} loses its rows and its client for good. Only its name can come back.`,
    );
  const removing = await register.writeName(stored, { ...stored.value, state: 'removing' });
  const { client, madeAs } = removing.value;

  if (client !== undefined) {
    const was = await register.readPartner(client);
    if (was && isOf(was.value, name))
      await register.writePartner(was, withoutRights(client, name, was.value));
  }
  await sweep(parts, { ...(madeAs !== undefined && { madeAs }) });
  if (cognito && client !== undefined) await cognito.remove(client);
  const { rotation: _, ...rest } = removing.value;
  await register.writeName(removing, { ...rest, state: 'removed' });

  say(
    `Partner ${name} of stage ${stage} is removed. Its requests, those that wait too, end within a minute.`,
  );
  if (!cognito && client !== undefined)
    say(`The client ${client} is still there at the identity provider: take it away there.`);
}

/**
 * Whether a record is this partner's. A record that can't be read counts as this partner's, because its key names this
 * partner's client.
 */
const isOf = (record: PartnerRecord | undefined, name: string): boolean => !record || record.name === name;

const withoutRights = (client: string, name: string, was: PartnerRecord | undefined): PartnerRecord => ({
  form: 1,
  client,
  name,
  ...byOwner(() => []),
  contact: '',
  since: was?.since ?? new Date().toISOString(),
  active: false,
});
