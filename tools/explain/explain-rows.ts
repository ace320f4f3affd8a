import { type Claims, clientOf } from '../../lib/access/claims.ts';
import { partnerKey, type Register } from '../../lib/access/partner-record.ts';
import { type Verdict, whoseRows } from '../../lib/access/whose-rows.ts';
import type { Config } from '../../lib/config.ts';
import { type Report, reports } from '../../lib/report/catalogue.ts';

/**
 * For each report, finds the rows that a verified token gives access to now. Returns lines for the operator, and the
 * verdicts by report.
 */
export async function explainRows(
  claims: Claims,
  { entitlements }: Pick<Config, 'entitlements'>,
  register: Register,
): Promise<{ readonly lines: string[]; readonly verdicts: ReadonlyMap<string, Verdict> }> {
  const client = clientOf(claims);
  const verdicts = new Map<string, Verdict>();
  for (const report of reports)
    verdicts.set(report.name, await whoseRows(entitlements, report, claims, register));
  return {
    lines: [
      ...(entitlements.by === 'partners' ? await recordLines(client, entitlements.bucket, register) : []),
      ...reports.map((report) => `${report.name.padEnd(22)}  ${rowsText(report, verdicts.get(report.name))}`),
    ],
    verdicts,
  };
}

async function recordLines(
  client: string | undefined,
  bucket: string,
  register: Register,
): Promise<string[]> {
  if (client === undefined) return ['record      none: the token names no client in client_id, azp or appid'];
  const record = await register.find(client);
  const recordUri = `s3://${bucket}/${partnerKey(client)}`;
  if (!record) return [`record      none that can be read: ${recordUri}`];
  const { name, active, since } = record;
  return [
    `partner     ${name}, ${active ? 'active' : 'inactive'}, since ${since}`,
    `record      ${recordUri}`,
  ];
}

const REFUSALS = {
  'unknown-client': 'the register has no such client',
  'inactive-client': 'the partner is inactive',
  'no-companies': 'it names no company of this report',
};

function rowsText({ governedBy }: Report, verdict: Verdict | undefined): string {
  if (!verdict || verdict.state === 'refused')
    return `401: ${verdict ? REFUSALS[verdict.refusal] : 'unknown report'}`;
  const { entitlement } = verdict;
  return entitlement === 'every-company' ? 'every row' : `rows of ${governedBy} ${entitlement.join(', ')}`;
}
