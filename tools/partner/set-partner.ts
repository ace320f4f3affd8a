import type { PartnerRecord } from '../../lib/access/partner-record.ts';
import type { Owner } from '../../lib/report/catalogue.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { type CommandParts, partnerThere } from './command-parts.ts';
import { describePartner } from './show-partners.ts';

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
