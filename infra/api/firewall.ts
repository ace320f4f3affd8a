import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { firewallRules, responseBodies, visibility } from './firewall-rules.ts';

export interface FirewallProps {
  readonly name: string;
  /** What it protects. */
  readonly resourceArn: string;
  readonly maxRequestsPerAddress: number;
}

/** AWS WAF in front of the API: the managed core rules, known bad inputs, and a limit per address. */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { name, resourceArn, maxRequestsPerAddress }: FirewallProps) {
    super(scope, id);
    const acl = new CfnWebACL(this, 'Acl', {
      name,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: firewallRules(maxRequestsPerAddress),
      customResponseBodies: { ...responseBodies },
      visibilityConfig: visibility(name),
      // Samples of requests can be read in the console: without tokens and query values, as in our own logs. AWS WAF
      // can't leave out the path, which in the waiting room holds a ticket.
      dataProtectionConfig: {
        dataProtections: [
          { action: 'SUBSTITUTION', field: { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization'] } },
          { action: 'SUBSTITUTION', field: { fieldType: 'QUERY_STRING' } },
        ],
      },
    });
    new CfnWebACLAssociation(this, 'Association', { webAclArn: acl.attrArn, resourceArn });
  }
}
