import { createInterface } from 'node:readline/promises';
import type { Companies, PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner, type Owner, ownerNames } from '../../lib/report/catalogue.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { labelOf } from '../../lib/terminal/owner-words.ts';
import type { StageOutputs } from '../stage-stacks.ts';
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

const noPartner = ({ stage }: CommandParts, name: string): OperatorFault =>
  new OperatorFault(`Stage ${stage} has no partner "${name}". List them: npm run partner -- list ${stage}`);

/** The client of a partner that is there. Otherwise throws an OperatorFault that says what to do. */
async function partnerThere(parts: CommandParts, name: string): Promise<{ readonly client: string }> {
  const { state = 'removed', client } = (await parts.register.readName(name))?.value ?? {};
  if (state === 'removed') throw noPartner(parts, name);
  // Release 1.0.0 has these states, of commands that were killed.
  if (state !== 'there' || client === undefined)
    throw new OperatorFault(
      `"${name}" was not finished by an older version. ${commandLine('remove', parts, name)}`,
    );
  return { client };
}

const companiesText = (companies: Companies): string =>
  typeof companies === 'string' ? companies : companies.join(',') || 'none';

/** A partner in lines for the operator. */
const describePartner = (record: PartnerRecord): string[] => [
  `Partner ${record.name}${record.active ? '' : ', inactive'}:`,
  `  client id             ${record.client}`,
  ...ownerNames.map((owner) => `  ${labelOf(owner).padEnd(20)}  ${companiesText(record[owner])}`),
  `  contact               ${record.contact}`,
  `  since                 ${record.since}`,
];

/** Shows one partner and the addresses from which it pulls reports, but never a secret. */
export async function showPartner(parts: CommandParts, name: string): Promise<void> {
  const { cognito, register, outputs, say } = parts;
  const { client } = await partnerThere(parts, name);
  const record = (await register.readPartner(client))?.value;
  if (record) say(...describePartner(record));
  else
    say(`Partner ${name}: the record of its client ${client} is missing or can't be read. It sees nothing.`);
  if (((await cognito?.listSecrets(client)) ?? []).length > 1)
    say('  secrets               two are good: a rotation is not finished');
  say(
    `  token URL             ${outputs.tokenUrl}`,
    `  scope                 ${outputs.scope}`,
    `  API                   ${outputs.apiUrl}`,
  );
}

/** Lists the partners of a stage, one a line, and the Cognito clients that belong to no partner. */
export async function listPartners({ register, cognito, stage, say }: CommandParts): Promise<void> {
  const names = (await register.listNames()).filter(({ state }) => state !== 'removed');
  if (names.length === 0) say(`Stage ${stage} has no partners.`);
  for (const { name, client } of names) {
    const record = client === undefined ? undefined : (await register.readPartner(client))?.value;
    if (!record)
      say(`${name}  its record is missing or can't be read: it sees nothing. Remove it, and add it again`);
    else
      say(
        [
          name,
          record.active ? 'active' : 'inactive',
          ...ownerNames.map((owner) => `${labelOf(owner)} ${companiesText(record[owner])}`),
          record.client,
          record.contact,
        ].join('  '),
      );
  }
  const known = new Set(names.map(({ client }) => client));
  for (const { id, name } of (await cognito?.list()) ?? [])
    if (!known.has(id)) say(`(client ${id}, "${name}" in Cognito, is no partner: it sees nothing)`);
}

/** The facts of a partner that can be changed. */
export type PartnerChanges = Partial<Pick<PartnerRecord, Owner | 'contact' | 'active'>>;

/** Changes a partner's record. The partner's tokens stay valid, and open the rows of the new record within a minute. */
export async function setPartner(parts: CommandParts, name: string, changes: PartnerChanges): Promise<void> {
  const { register, say } = parts;
  const { client } = await partnerThere(parts, name);
  const was = await register.readPartner(client);
  if (!was?.value)
    throw new OperatorFault(
      `The record of "${name}" can't be read, and opens nothing. Bring an earlier version back in S3, or remove the ` +
        'partner and add it again with its client.',
    );
  const now: PartnerRecord = { ...was.value, ...changes };
  await register.writePartner(was, now);
  say(...describePartner(now), 'The change takes effect within a minute.');
}

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

/**
 * Removes a partner: first its rights, then its client in Cognito, if the stage uses Cognito, and the clients that a
 * killed command has left. An inactive record without companies and contact stays. The command can be repeated. Asks the
 * operator at the terminal first, unless `isConfirmed` is set.
 */
export async function removePartner(parts: CommandParts, name: string, isConfirmed: boolean): Promise<void> {
  const { register, cognito, stage, say } = parts;
  const stored = await register.readName(name);
  const isMade = RegExp(`^${name}\\.[0-9a-f]{12}$`);
  const made = ((await cognito?.list()) ?? []).filter((listed) => isMade.test(listed.name));
  if (!stored && made.length === 0) throw noPartner(parts, name);
  if (made.length === 0 && stored?.value.state === 'removed')
    return say(`Partner ${name} of stage ${stage} is removed.`);
  const loss = `Partner ${name} of stage ${stage} loses its rows and its client for good. Only its name can come back.`;
  if (!isConfirmed) await askOperator(loss, name);

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

/** Asks at the terminal. Throws an OperatorFault unless the operator types the name, or if there is no terminal. */
async function askOperator(loss: string, name: string): Promise<void> {
  if (!process.stdin.isTTY) throw new OperatorFault(`${loss} Without a terminal, say so: --yes`);
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  if ((await terminal.question(`${loss}\nType its name: `)) !== name)
    throw new OperatorFault('Nothing is removed.');
}
