import type { Operator } from './operator.ts';

/**
 * Adds the partners `house` and `probe` to a stage, which both see every row. Resolves to the client of `house`, which
 * the suites use.
 */
export async function addHouse(
  { partner }: Operator,
  stage: string,
): Promise<{ clientId: string; clientSecret: string }> {
  const rows = ['--publisher-companies', 'every-company', '--advertiser-companies', 'every-company'];
  const rest = [...rows, '--contact', 'house@partner.example'];
  const output = await partner('add', stage, 'house', ...rest);
  const [clientId = '', clientSecret = ''] = ['client id', 'client secret'].map(
    (name) => RegExp(`${name} +(\\S+)`).exec(output)?.[1],
  );
  const id = /client (\S+), "probe" in Cognito/.exec(await partner('list', stage))?.[1] ?? '';
  await partner('add', stage, 'probe', '--client', id, ...rest);
  return { clientId, clientSecret };
}
