import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { firewallRules, type RuleSettings, responseBodies, visibility } from './firewall-rules.ts';

export interface FirewallProps extends RuleSettings {
  readonly name: string;
  /** ARN of the API's stage, which the firewall protects. */
  readonly resourceArn: string;
}

/** AWS WAF in front of the API: the managed core rules, known bad inputs, and a limit per address. */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { name, resourceArn, ...settings }: FirewallProps) {
    super(scope, id);
    const acl = new CfnWebACL(this, 'Acl', {
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
    new CfnWebACLAssociation(this, 'Association', { webAclArn: acl.attrArn, resourceArn });
  }
}
