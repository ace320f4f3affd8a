import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COUNTED_CORE_RULES, firewallRules, responseBodies } from '../../infra/api/firewall.ts';

const rules = firewallRules({ maxRequestsPerAddress: 500, isForPages: false });

describe('the firewall', () => {
  it('limits each address, then applies the core rules, then the rules for known bad inputs', () => {
    const names = rules.map(({ name, priority }) => `${priority} ${name}`);
    expect(names).toEqual(['0 requests-per-address', '1 core', '2 known-bad-inputs']);
    const responseHeaders = [
      { name: 'Retry-After', value: '300' },
      { name: 'X-Content-Type-Options', value: 'nosniff' },
      { name: 'Strict-Transport-Security', value: 'max-age=31536000' },
    ];
    const rateBasedStatement = { aggregateKeyType: 'IP', limit: 500, evaluationWindowSec: 300 };
    const answer = { responseCode: 429, customResponseBodyKey: 'too-many-requests', responseHeaders };
    const action = { block: { customResponse: answer } };
    expect(rules[0]).toMatchObject({ statement: { rateBasedStatement }, action });
    for (const [index, set] of ['Common', 'KnownBadInputs'].entries()) {
      const group = { vendorName: 'AWS', name: `AWSManagedRules${set}RuleSet` };
      const rule = { statement: { managedRuleGroupStatement: group }, overrideAction: { none: {} } };
      expect(rules[index + 1]).toMatchObject(rule);
    }
  });

  it('answers a caller over its limit with a problem document, as the gateway does', () => {
    expect(JSON.parse(responseBodies['too-many-requests']?.content ?? '')).toEqual({
      ...{ type: 'urn:problem-type:performance-reports:too-many-requests', status: 429 },
      ...{ help: '/docs/problems#too-many-requests', title: 'Too many requests' },
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
});
