import { randomBytes } from 'node:crypto';
import type { PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner, type Owner, publisherReport, reports } from '../../lib/report/catalogue.ts';
import { API_VERSIONS } from '../../lib/report/parse-request.ts';
import { reportPath } from '../../lib/routes.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { StageOutputs } from '../stage-outputs.ts';
import type { CognitoClients } from './cognito-clients.ts';
import { type CommandParts, commandLine, sweep } from './command-parts.ts';
import type { NameRecord, Stored } from './register-bucket.ts';

/** What the operator specifies for a new partner. */
export interface NewPartner extends Pick<PartnerRecord, 'name' | Owner | 'contact'> {
  /** The id of an existing client. Without it, the command makes a client in Cognito. */
  readonly client?: string;
}

/**
 * Adds a partner. Each step is recorded before the next one, so that the command can be repeated after it was killed
 * at any step. The steps: reserve the name; make the client; write the record; show the secret; set the name's state to
 * `there`. The client has a unique name in Cognito, by which a repeated command finds it.
 */
export async function addPartner(parts: CommandParts, wanted: NewPartner): Promise<void> {
  const { register, cognito, outputs, stage, say } = parts;
  await checkClient(parts, wanted);
  const reserved = await reserve(parts, wanted);
  const named =
    wanted.client === undefined && cognito
      ? await withCognitoClient(parts, cognito, reserved)
      : await register.writeName(reserved, { ...reserved.value, client: wanted.client ?? '' });
  const client = named.value.client ?? '';

  const was = await register.readPartner(client);
  refuseOther(was?.value, wanted.name);
  const before = was?.value?.active ? was.value : undefined;
  await register.writePartner(was, {
    form: 1,
    client,
    name: wanted.name,
    ...byOwner((owner) => wanted[owner]),
    contact: wanted.contact,
    since: before?.since ?? new Date().toISOString(),
    active: true,
    ...(before?.annotations && { annotations: before.annotations }),
  });
  await sweep(parts, named.value);

  const secret =
    cognito && named.value.madeAs !== undefined ? await firstSecret(parts, cognito, named.value) : undefined;
  say(`Partner ${wanted.name} of stage ${stage}:`, `  client id      ${client}`);
  if (secret !== undefined) say(`  client secret  ${secret}   (this once: hand it over now)`);
  say(
    `  token URL      ${outputs.tokenUrl}`,
    `  scope          ${outputs.scope}`,
    `  API            ${outputs.apiUrl}`,
  );
  await register.writeName(named, { ...named.value, state: 'there' });
  say('It can pull reports now; if it tried before, within a minute. Its report of yesterday:');
  say(...firstReport(outputs, wanted, `${client}:${secret ?? '<client secret>'}`).map((line) => `  ${line}`));
}

/** Commands for a shell that pull a small report of yesterday. */
function firstReport(
  { tokenUrl, scope, apiUrl }: StageOutputs,
  wanted: NewPartner,
  idAndSecret: string,
): string[] {
  const report = reports.find(({ governedBy }) => wanted[governedBy].length > 0) ?? publisherReport;
  const [end, start] = [0, 1].map((days) =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10),
  );
  const window = `startInclusive=${start}T00:00:00Z&endExclusive=${end}T00:00:00Z&api-version=${API_VERSIONS.at(-1)}`;
  return [
    `TOKEN=$(curl -s ${tokenUrl} -u '${idAndSecret}' -d grant_type=client_credentials -d scope=${scope} |`,
    `  sed 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/')`,
    `curl -L -g -H "Authorization: Bearer $TOKEN" '${apiUrl}${reportPath(report)}?requestedFields=Day,Clicks&${window}'`,
  ];
}

/** Throws an OperatorFault if the named client can't be this partner's. Called before anything is written. */
async function checkClient({ register, cognito, stage }: CommandParts, wanted: NewPartner): Promise<void> {
  const { client, name } = wanted;
  if (client === undefined) {
    if (cognito) return;
    throw new OperatorFault(
      `Stage ${stage} has an identity provider of its own. Make the client there, and name it: --client <client id>`,
    );
  }
  if (cognito && !(await cognito.exists(client)))
    throw new OperatorFault(
      `The user pool of stage ${stage} has no client ${client}. Without --client, one is made.`,
    );
  refuseOther((await register.readPartner(client))?.value, name);
}

function refuseOther(record: PartnerRecord | undefined, name: string): void {
  if (record?.active && record.name !== name)
    throw new OperatorFault(`The client ${record.client} is partner "${record.name}" already.`);
}

/** Reserves the name for this partner. If a killed command has reserved it, returns that reservation. */
async function reserve(parts: CommandParts, { name, client }: NewPartner): Promise<Stored<NameRecord>> {
  const { register } = parts;
  const stored = await register.readName(name);
  if (!stored || stored.value.state === 'removed')
    return register.writeName(stored, {
      form: 1,
      name,
      state: 'adding',
      ...(client === undefined && { madeAs: `${name}.${randomBytes(6).toString('hex')}` }),
    });
  switch (stored.value.state) {
    case 'adding': {
      const { madeAs, client: begun } = stored.value;
      if (
        (client === undefined) !== (madeAs !== undefined) ||
        (begun !== undefined && (client ?? begun) !== begun)
      )
        throw new OperatorFault(
          `An earlier command began to add "${name}" with another client. Remove it first: ${commandLine('remove', parts, name)}`,
        );
      return stored;
    }
    case 'there':
      throw new OperatorFault(
        `The name "${name}" is taken. Change the partner: ${commandLine('set', parts, name)} …`,
      );
    case 'removing':
      throw new OperatorFault(
        `"${name}" was not removed to the end. Repeat ${commandLine('remove', parts, name)}`,
      );
  }
}

/**
 * Records the partner's client in the record of the partner's name. The client is the one that is recorded already;
 * otherwise the client that a killed command made; otherwise a new client.
 */
async function withCognitoClient(
  { register }: CommandParts,
  cognito: CognitoClients,
  reserved: Stored<NameRecord>,
): Promise<Stored<NameRecord>> {
  const { client, madeAs = '' } = reserved.value;
  if (client !== undefined) return reserved;
  const found = (await cognito.list()).find(({ name }) => name === madeAs)?.id;
  const id = found ?? (await cognito.create(madeAs));
  try {
    return await register.writeName(reserved, { ...reserved.value, client: id });
  } catch (error) {
    // The same command ran at the same time and recorded another client. This one is not needed.
    if (error instanceof OperatorFault && found === undefined) await cognito.remove(id);
    throw error;
  }
}

/** The secret of a new client. Cognito returns it as long as the client has no second secret. */
async function firstSecret(
  parts: CommandParts,
  cognito: CognitoClients,
  { name, client = '' }: NameRecord,
): Promise<string> {
  const secret = await cognito.secretOf(client);
  if (secret !== undefined) return secret;
  throw new OperatorFault(
    `Cognito does not tell the secret of ${client} any more. Begin anew: ${commandLine('remove', parts, name)}, then add it.`,
  );
}
