import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COUNTED_CORE_RULES, firewallRules, responseBodies } from '../../infra/api/firewall.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';

const rules = firewallRules({ maxRequestsPerAddress: 500, isForPages: false });

const fields = publisherReport.fields.map(({ name }) => name).join(',');
const window = 'startInclusive=2026-01-01T00:00:00Z&endExclusive=2026-02-01T00:00:00Z&api-version=1.0';
const manyPlacements = Array.from({ length: 120 }, (_, index) => `filter[PlacementId]=${9_000_000 + index}`);

/** Queries of honest callers, in the decoded form that AWS WAF's rules inspect. */
const honest = [
  ['brackets, commas and colons', 'filter[PlacementId]=7'],
  ['an apostrophe', "filter[DeviceOrProxy]=O'Brien"],
  ['quotes and a semicolon', 'filter[DeviceOrProxy]="TV"; 4K'],
  ['words of SQL', 'filter[DemandOrigin]=select -- or union'],
  ['angle brackets', 'filter[DeviceOrProxy]=<unknown device>'],
  ['an equals sign after a word that begins with “on”', 'filter[DemandOrigin]=onair=1'],
  ['a URL', 'filter[DemandOrigin]=https://ads.example/x?y=1'],
  ['a URL with an IP address', 'filter[DemandOrigin]=http://203.0.113.9/bid'],
  ['a file name', 'filter[DemandOrigin]=exchange.log'],
  ['a relative path', 'filter[DemandOrigin]=app/../bundle'],
  ['a long list of filter values', manyPlacements.join('&')],
].map(([what, filters]) => [what, `requestedFields=${fields}&${window}&${filters}`] as const);

/** The core rules that inspect a query, as AWS documents them. Each matches all that the documentation may mean. */
const DOCUMENTED_PATTERNS: Readonly<Record<string, (query: string) => boolean>> = {
  SizeRestrictions_QUERYSTRING: (query) => query.length > 2_048,
  EC2MetaDataSSRF_QUERYARGUMENTS: (query) => /169\.254\.169\.254|metadata\.google/.test(query),
  GenericLFI_QUERYARGUMENTS: (query) => /\.\.[/\\]/.test(query),
  RestrictedExtensions_QUERYARGUMENTS: (query) => /\.(log|ini|bak|conf|config|sys|sql|backup)\b/.test(query),
  GenericRFI_QUERYARGUMENTS: (query) => /(https?|ftps?|file):\/\/\d+\.\d+\.\d+\.\d+/.test(query),
  CrossSiteScripting_QUERYARGUMENTS: (query) => /[<>]|\bon\w+=|javascript:/.test(query),
};

describe('the firewall', () => {
  it('limits each address, then applies the core rules, then the rules for known bad inputs', () => {
    expect(rules.map(({ name, priority }) => [name, priority])).toEqual([
      ['requests-per-address', 0],
      ['core', 1],
      ['known-bad-inputs', 2],
    ]);
    expect(rules[0]).toMatchObject({
      statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: 500, evaluationWindowSec: 300 } },
      action: {
        block: {
          customResponse: {
            responseCode: 429,
            customResponseBodyKey: 'too-many-requests',
            responseHeaders: [
              { name: 'Retry-After', value: '300' },
              { name: 'X-Content-Type-Options', value: 'nosniff' },
              { name: 'Strict-Transport-Security', value: 'max-age=31536000' },
            ],
          },
        },
      },
    });
    for (const [index, set] of ['Common', 'KnownBadInputs'].entries())
      expect(rules[index + 1]).toMatchObject({
        statement: {
          managedRuleGroupStatement: { vendorName: 'AWS', name: `AWSManagedRules${set}RuleSet` },
        },
        overrideAction: { none: {} },
      });
  });

  it('answers a caller over its limit with a problem document, as the gateway does', () => {
    expect(JSON.parse(responseBodies['too-many-requests']?.content ?? '')).toEqual({
      type: 'urn:problem-type:performance-reports:too-many-requests',
      help: '/docs/problems#too-many-requests',
      title: 'Too many requests',
      status: 429,
      detail: 'There were too many requests from this address. Try again in five minutes.',
    });
  });

  it('only counts requests that match one of six core rules, all of which docs/security.md names', () => {
    const security = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
    const names = [
      ...['NoUserAgent_HEADER', 'SizeRestrictions_QUERYSTRING', 'CrossSiteScripting_QUERYARGUMENTS'],
      ...['GenericLFI_QUERYARGUMENTS', 'GenericRFI_QUERYARGUMENTS', 'RestrictedExtensions_QUERYARGUMENTS'],
    ];
    const ruleActionOverrides = names.map((name) => ({ name, actionToUse: { count: {} } }));
    expect(rules[1]).toMatchObject({ statement: { managedRuleGroupStatement: { ruleActionOverrides } } });
    for (const name of Object.keys(COUNTED_CORE_RULES)) expect(security).toContain(`\`${name}\``);
  });

  it.each(honest)('lets through %s', (_, query) => {
    const tripped = Object.entries(DOCUMENTED_PATTERNS).flatMap(([rule, trips]) =>
      trips(query) ? [rule] : [],
    );
    expect(tripped.filter((rule) => !(rule in COUNTED_CORE_RULES))).toEqual([]);
  });

  it('sets a core rule to count only if honest requests match the rule', () => {
    const tripped = Object.entries(DOCUMENTED_PATTERNS).flatMap(([rule, trips]) =>
      honest.some(([, query]) => trips(query)) ? [rule] : [],
    );
    expect([...tripped, 'NoUserAgent_HEADER'].sort()).toEqual(Object.keys(COUNTED_CORE_RULES).sort());
  });
});
