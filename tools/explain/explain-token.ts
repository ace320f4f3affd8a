import { decodeJwt, decodeProtectedHeader } from 'jose';
import { type Claims, clientOf } from '../../lib/access/claims.ts';
import { partnerKey, type Register } from '../../lib/access/partner-record.ts';
import { isEndless, scopeOf, type TokenRules, tokenVerifier } from '../../lib/access/verify-token.ts';
import { type Verdict, whoseRows } from '../../lib/access/whose-rows.ts';
import type { Config } from '../../lib/config.ts';
import { NotAuthorized, Problem } from '../../lib/problems/problem.ts';
import { type Report, reports } from '../../lib/report/catalogue.ts';

/** The header and the claims of a token that is not verified yet. The signature is left out. */
export interface TokenParts {
  readonly header: Claims;
  readonly claims: Claims;
}

/** Decodes a token without verifying it. Undefined if the text is no JWT. */
export function readToken(token: string): TokenParts | undefined {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

function time(seconds: unknown): string {
  if (typeof seconds !== 'number') return 'none';
  const isTime = Math.abs(seconds) <= 8.64e12;
  return isTime ? new Date(seconds * 1_000).toISOString() : `${seconds}, which is no time`;
}

const text = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));

/** The header fields and claims of a token that the service reads, in lines. */
export const describeToken = ({ header, claims }: TokenParts): string[] => [
  `issuer      ${text(claims['iss'])}`,
  `client      ${text(clientOf(claims))}`,
  `scope       ${text(claims['scope'] ?? claims['scp'])}`,
  `audience    ${text(claims['aud'])}`,
  `issued      ${time(claims['iat'])}`,
  `expires     ${time(claims['exp'])}`,
  `key         ${text(header['kid'])}, ${text(header['alg'])}`,
];

/** Verifies a token as the service does. Returns its claims or, in words for an operator, what is wrong with it. */
export async function checkToken(
  token: string,
  rules: TokenRules,
  now: number,
): Promise<{ readonly claims: Claims } | { readonly refused: string }> {
  try {
    return { claims: await tokenVerifier(rules)(`Bearer ${token}`) };
  } catch (error) {
    if (error instanceof Problem)
      return { refused: `401: ${error.message} ${reasonOf(error, readToken(token), rules, now)}` };
    return {
      refused: `500: the keys at ${rules.jwksUri} can't be read: ${error instanceof Error ? error.message : error}`,
    };
  }
}

/** The full reason for a refusal. The service itself says less, because its caller may be a stranger. */
function reasonOf(error: Problem, token: TokenParts | undefined, rules: TokenRules, now: number): string {
  if (!token) return 'It is no JWT of three parts.';
  if (error instanceof NotAuthorized) return missingIn(token.claims, rules);
  const { claims, header } = token;
  if (claims['iss'] !== rules.issuer)
    return `Its issuer is ${text(claims['iss'])}; this stage trusts ${text(rules.issuer)}.`;
  if (typeof claims['exp'] !== 'number') return 'It has no expiry.';
  if (claims['exp'] * 1_000 <= now) return `It expired at ${time(claims['exp'])}.`;
  if (isEndless(claims['exp'])) return `It expires at ${time(claims['exp'])}.`;
  return `The signature is not by a key of ${rules.jwksUri}: is ${text(header['kid'])} among them?`;
}

/**
 * Says what a valid token of the issuer lacks: the claim that the stage requires, or the scope. If the stage requires a
 * claim, the API's name in `aud` may replace the scope.
 */
function missingIn(claims: Claims, rules: TokenRules): string {
  const { apiScope, requiredClaim } = rules;
  const scope = scopeOf(rules);
  const granted = [claims['scope'], claims['scp']].flat().join(' ').split(' ');
  const isNamed = granted.includes(scope) || [claims['aud']].flat().includes(apiScope);
  if (requiredClaim && isNamed)
    return `It lacks what every token of this stage must carry: ${text(requiredClaim.value)} in ${requiredClaim.name}.`;
  return `It was not requested with the scope ${scope}.`;
}

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
