import { CfnOutput } from 'aws-cdk-lib';
import { type CfnDomainName, DomainName, EndpointType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';
import { TLS } from './rest-api.ts';

export interface CustomDomainProps {
  readonly api: RestApi;
  readonly domain: NonNullable<Stage['domain']>;
}

/** The operator's own host name for the API. Its DNS record is made too if the stage names the zone. */
export class CustomDomain extends Construct {
  constructor(scope: Construct, id: string, { api, domain }: CustomDomainProps) {
    super(scope, id);
    const domainName = new DomainName(this, 'Name', {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
    });
    Object.assign(domainName.node.defaultChild as CfnDomainName, TLS);
    domainName.addBasePathMapping(api, { stage: api.deploymentStage });
    if (domain.hostedZone) {
      new ARecord(this, 'Record', {
        zone: HostedZone.fromHostedZoneAttributes(this, 'Zone', {
          hostedZoneId: domain.hostedZone.id,
          zoneName: domain.hostedZone.name,
        }),
        recordName: `${domain.name}.`,
        target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
      });
    } else {
      new CfnOutput(this, 'RecordTarget', { value: domainName.domainNameAliasDomainName });
    }
  }
}
