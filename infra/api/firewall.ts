import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { gatewayProblems } from '../../lib/problems/gateway-problems.ts';
import { problemDocument } from '../../lib/problems/problem.ts';
import { COMMON_HEADERS } from '../../lib/response-headers.ts';

/**
 * The core rules that honest requests can match, each with the reason why it only counts. A filter's value may be
 * any text: a device, or the origin of demand, often a domain or a URL. It reaches the engine as a bound parameter.
 */
export const COUNTED_CORE_RULES: Readonly<Record<string, string>> = {
  NoUserAgent_HEADER:
    "Not every HTTP client sends a User-Agent: Python's http.client and Go's bare connections don't. The token says who calls.",
  SizeRestrictions_QUERYSTRING:
    'It blocks above 2,048 bytes. A report of all fields with some dozen filter values is longer; API Gateway ends at 10,240 bytes, the function at its own limits.',
  CrossSiteScripting_QUERYARGUMENTS:
    'A value may hold <, > or a word with =. No answer of this API is HTML, and each one says its type.',
  GenericLFI_QUERYARGUMENTS: 'A value may hold ../. No value is ever a path.',
  GenericRFI_QUERYARGUMENTS: 'A value may be a URL with an IPv4 host. No value is ever fetched.',
  RestrictedExtensions_QUERYARGUMENTS:
    'A value may end like a file name: .log, .ini. No value is ever opened.',
};

/** AWS WAF counts an address's requests over this time. */
const RATE_WINDOW_SECONDS = 300;

/**
 * The answer to a caller over its limit. AWS WAF offers only three content types, and knows no request id. So this
 * problem document is plain JSON and has no `instance`.
 */
const { instance: _, ...tooManyRequests } = problemDocument(
  {
    ...gatewayProblems.throttled,
    detail: 'There were too many requests from this address. Try again in five minutes.',
  },
  '',
);

const RATE_LIMITED_BODY = 'too-many-requests';

export const responseBodies: Readonly<Record<string, CfnWebACL.CustomResponseBodyProperty>> = {
  [RATE_LIMITED_BODY]: { contentType: 'APPLICATION_JSON', content: JSON.stringify(tooManyRequests) },
};

export interface RuleSettings {
  readonly maxRequestsPerAddress: number;
  /** Whether pages of other origins may read the firewall's own answer. */
  readonly isForPages: boolean;
}

/** The firewall's rules, in the order in which they are evaluated. */
export const firewallRules = ({
  maxRequestsPerAddress,
  isForPages,
}: RuleSettings): CfnWebACL.RuleProperty[] => [
  {
    name: 'requests-per-address',
    priority: 0,
    statement: {
      rateBasedStatement: {
        aggregateKeyType: 'IP',
        limit: maxRequestsPerAddress,
        evaluationWindowSec: RATE_WINDOW_SECONDS,
      },
    },
    action: {
      block: {
        customResponse: {
          responseCode: gatewayProblems.throttled.status,
          customResponseBodyKey: RATE_LIMITED_BODY,
          responseHeaders: Object.entries({
            'Retry-After': String(RATE_WINDOW_SECONDS),
            ...COMMON_HEADERS,
            ...(isForPages && { 'Access-Control-Allow-Origin': '*' }),
          }).map(([name, value]) => ({ name, value })),
        },
      },
    },
    visibilityConfig: visibility('requests-per-address'),
  },
  managed('core', 1, {
    name: 'AWSManagedRulesCommonRuleSet',
    ruleActionOverrides: Object.keys(COUNTED_CORE_RULES).map((name) => ({
      name,
      actionToUse: { count: {} },
    })),
  }),
  managed('known-bad-inputs', 2, { name: 'AWSManagedRulesKnownBadInputsRuleSet' }),
];

/** A rule with a group of rules that AWS keeps. */
const managed = (
  name: string,
  priority: number,
  group: Omit<CfnWebACL.ManagedRuleGroupStatementProperty, 'vendorName'>,
): CfnWebACL.RuleProperty => ({
  name,
  priority,
  statement: { managedRuleGroupStatement: { vendorName: 'AWS', ...group } },
  overrideAction: { none: {} },
  visibilityConfig: visibility(name),
});

/** Samples of requests help to recognise honest requests that a rule matches. The web ACL limits what they show. */
function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}

/**
 * Puts AWS WAF in front of the API: the managed core rules, known bad inputs, and a limit per address.
 *
 * @param resourceArn the API's stage
 */
export function addFirewall(
  scope: Construct,
  name: string,
  resourceArn: string,
  settings: RuleSettings,
): void {
  const firewall = new Construct(scope, 'Firewall');
  const acl = new CfnWebACL(firewall, 'Acl', {
    name,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    rules: firewallRules(settings),
    customResponseBodies: { ...responseBodies },
    visibilityConfig: visibility(name),
    // The console shows samples of requests. Tokens and query values are removed from them, as from our own logs. AWS
    // WAF can't remove the path, which holds a ticket in the waiting room.
    dataProtectionConfig: {
      dataProtections: [
        { action: 'SUBSTITUTION', field: { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization'] } },
        { action: 'SUBSTITUTION', field: { fieldType: 'QUERY_STRING' } },
      ],
    },
  });
  new CfnWebACLAssociation(firewall, 'Association', { webAclArn: acl.attrArn, resourceArn });
}
