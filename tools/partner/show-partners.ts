import type { Companies, PartnerRecord } from '../../lib/access/partner-record.ts';
import { ownerNames } from '../../lib/report/catalogue.ts';
import { labelOf } from '../../lib/terminal/owner-words.ts';
import { type CommandParts, partnerThere } from './command-parts.ts';

const companiesText = (companies: Companies): string => {
  if (typeof companies === 'string') return companies;
  return companies.length === 0 ? 'none' : companies.join(',');
};

/** A partner in lines for the operator. */
export const describePartner = (record: PartnerRecord): string[] => [
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
