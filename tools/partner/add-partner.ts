import { randomBytes } from 'node:crypto';
import type { PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner, type Owner, publisherReport, reports } from '../../lib/report/catalogue.ts';
import { API_VERSIONS } from '../../lib/report/parse-request.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { reportPath } from '../../lib/routes.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { StageOutputs } from '../stage-stacks.ts';
import { type CommandParts, commandLine } from './known-partner.ts';

/** What the operator specifies for a new partner. */
export interface NewPartner extends Pick<PartnerRecord, 'name' | Owner | 'contact'> {
  /** The id of an existing client. Without it, the command makes a client in Cognito. */
  readonly client?: string;
}

/**
 * Adds a partner: makes the client, takes the name by one conditional write, writes the record, and shows the secret. If
 * the command is killed, `list` names what it left, and `remove` takes that away.
 */
export async function addPartner(parts: CommandParts, wanted: NewPartner): Promise<void> {
  const { register, cognito, outputs, stage, say } = parts;
  const { name, contact } = wanted;
  const stored = await register.readName(name);
  if (stored && stored.value.state !== 'removed')
    throw new OperatorFault(
      `The name "${name}" is taken. Change the partner: ${commandLine('set', parts, name)} … Or remove it first: ` +
        commandLine('remove', parts, name),
    );
  const { id: client, secret } = await clientOf(parts, wanted);
  try {
    await register.writeName(stored, { form: 1, name, state: 'there', client });
  } catch (error) {
    // The same command ran at the same time, and has taken the name with another client.
    if (error instanceof OperatorFault && secret !== undefined) await cognito?.remove(client);
    throw error;
  }
  await register.writePartner(await register.readPartner(client), {
    form: 1,
    client,
    name,
    ...byOwner((owner) => wanted[owner]),
    contact,
    since: new Date().toISOString(),
    active: true,
  });
  say(`Partner ${name} of stage ${stage}:`, `  client id      ${client}`);
  if (secret !== undefined) say(`  client secret  ${secret}   (this once: hand it over now)`);
  say(
    `  token URL      ${outputs.tokenUrl}`,
    `  scope          ${outputs.scope}`,
    `  API            ${outputs.apiUrl}`,
    'It can pull reports now; if it tried before, within a minute. Its report of yesterday:',
    ...firstReport(outputs, wanted, `${client}:${secret ?? '<client secret>'}`),
  );
}

/** The named client, or a new one with its secret. Throws an OperatorFault if the named one can't be this partner's. */
async function clientOf(
  { register, cognito, stage }: CommandParts,
  { client, name }: NewPartner,
): Promise<{ readonly id: string; readonly secret?: string }> {
  if (client === undefined) {
    // The end tells clients that this command made from those that somebody made by hand under the same name.
    if (cognito) return cognito.create(`${name}.${randomBytes(6).toString('hex')}`);
    throw new OperatorFault(
      `Stage ${stage} has an identity provider of its own. Make the client there, and name it: --client <client id>`,
    );
  }
  if (cognito && !(await cognito.exists(client)))
    throw new OperatorFault(
      `The user pool of stage ${stage} has no client ${client}. Without --client, one is made.`,
    );
  const record = (await register.readPartner(client))?.value;
  if (record?.active && record.name !== name)
    throw new OperatorFault(`The client ${client} is partner "${record.name}" already.`);
  return { id: client };
}

/** Commands for a shell that pull a small report of yesterday. */
function firstReport(
  { tokenUrl, scope, apiUrl }: StageOutputs,
  wanted: NewPartner,
  idAndSecret: string,
): string[] {
  const report = reports.find(({ governedBy }) => wanted[governedBy].length > 0) ?? publisherReport;
  const [start, end] = [Date.now() - 86_400_000, Date.now()].map((time) => `${utcDay(time)}T00:00:00Z`);
  const window = `startInclusive=${start}&endExclusive=${end}`;
  const query = `requestedFields=Day,Clicks&${window}&api-version=${API_VERSIONS.at(-1)}`;
  return [
    `  TOKEN=$(curl -s ${tokenUrl} -u '${idAndSecret}' -d grant_type=client_credentials -d scope=${scope} |`,
    `    sed 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/')`,
    `  curl -L -g -H "Authorization: Bearer $TOKEN" '${apiUrl}${reportPath(report)}?${query}'`,
  ];
}
