import type { Operator } from './operator.ts';

export const CONTACT = ['--contact', 'reports@partner.example'];

/** The client that `npm run partner -- add` made, read from its output. */
export function clientIn(output: string): { clientId: string; clientSecret: string } {
  const [clientId = '', clientSecret = ''] = ['id', 'secret'].map(
    (what) => RegExp(`client ${what} +(\\S+)`).exec(output)?.[1],
  );
  return { clientId, clientSecret };
}

/**
 * Adds the partners `house` and `probe` to a stage, which both see every row. Resolves to the client of `house`, which
 * the suites use.
 */
export async function addHouse({ partner }: Operator, stage: string): Promise<ReturnType<typeof clientIn>> {
  const rows = ['--publisher-companies', 'every-company', '--advertiser-companies', 'every-company'];
  const rest = [...rows, ...CONTACT];
  const client = clientIn(await partner('add', stage, 'house', ...rest));
  const id = /client (\S+), "probe" in Cognito/.exec(await partner('list', stage))?.[1] ?? '';
  await partner('add', stage, 'probe', '--client', id, ...rest);
  return client;
}
