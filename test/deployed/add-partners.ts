import type { Lane } from './lane.ts';
import type { Operator } from './operator.ts';

const EVERYTHING = ['--publisher-companies', 'every-company', '--advertiser-companies', 'every-company'];

/** What `npm run partner -- add` tells of a client that it has made. */
export function printedClient(printed: string): Lane['client'] {
  const [, clientId = ''] = /client id +(\S+)/.exec(printed) ?? [];
  const [, clientSecret = ''] = /client secret +(\S+)/.exec(printed) ?? [];
  if (clientId === '' || clientSecret === '') throw new Error(`no client and secret in:\n${printed}`);
  return { clientId, clientSecret };
}

/** Adds who pulls from a stage with a register, as docs/deploy.md has it: the suites, by a client of their own, and the probe. */
export async function addPartners(
  { partner, outputs }: Pick<Operator, 'partner' | 'outputs'>,
  stage: string,
): Promise<Lane['client']> {
  const { ProbeClientId = '' } = await outputs(stage, 'identity');
  const probe = ['--client', ProbeClientId, '--publisher-companies', 'every-company'];
  await partner('add', stage, 'probe', ...probe, '--contact', 'operator@example.com');
  return printedClient(
    await partner('add', stage, 'suites', ...EVERYTHING, '--contact', 'suites@example.com'),
  );
}
