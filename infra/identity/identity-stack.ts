import {
  Aws,
  CfnOutput,
  Duration,
  Fn,
  RemovalPolicy,
  Stack,
  type StackProps,
  Validations,
} from 'aws-cdk-lib';
import { OAuthScope, ResourceServerScope, UserPool } from 'aws-cdk-lib/aws-cognito';
import type { Construct } from 'constructs';
import type { ResourceNames } from '../resource-names.ts';
import type { TokenIssuer } from './token-issuer.ts';

export interface IdentityStackProps extends StackProps {
  readonly names: ResourceNames;
  readonly apiScope: string;
  /** Names of clients that an older version made here: they stay in Cognito when they go from here. */
  readonly formerClients: readonly string[];
  readonly keepData: boolean;
}

/**
 * The service's own identity provider, for machine clients that request tokens with `{apiScope}/.default` (contract 5.2).
 * The clients are made by `npm run partner`, not here: partners come more often than deployments.
 */
export class IdentityStack extends Stack {
  /** For other stacks, which read it off this one's outputs when they are deployed. */
  readonly tokenIssuer: TokenIssuer;

  constructor(
    scope: Construct,
    id: string,
    { names, apiScope, formerClients, keepData, ...props }: IdentityStackProps,
  ) {
    super(scope, id, props);
    const pool = new UserPool(this, 'Partners', {
      userPoolName: names.service,
      selfSignUpEnabled: false,
      passwordPolicy: {
        minLength: 16,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      deletionProtection: keepData,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const noUsers = 'The pool has machine clients and no users: there is no sign-in to protect.';
    Validations.of(pool).acknowledge(
      { id: 'AwsSolutions-COG2', reason: noUsers },
      { id: 'AwsSolutions-COG8', reason: noUsers },
    );

    // Cognito joins a resource server's identifier and a scope's name with a slash. It takes a leading dot.
    const api = new ResourceServerScope({
      scopeName: '.default',
      scopeDescription: 'Read performance reports',
    });
    const server = pool.addResourceServer('Api', {
      identifier: apiScope,
      userPoolResourceServerName: names.service,
      scopes: [api],
    });
    // A domain's prefix is taken once in a region, by whoever comes first. The stack's own id makes it unique.
    const unique = Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))));
    const domain = pool.addDomain('Domain', {
      cognitoDomain: { domainPrefix: `${names.service}-${unique}` },
    });
    for (const name of formerClients) {
      // As the older version had it, so that CloudFormation finds nothing to replace.
      const client = pool.addClient(name, {
        userPoolClientName: name,
        generateSecret: true,
        authFlows: {},
        oAuth: { flows: { clientCredentials: true }, scopes: [OAuthScope.resourceServer(server, api)] },
        accessTokenValidity: Duration.hours(1),
        preventUserExistenceErrors: true,
      });
      client.applyRemovalPolicy(RemovalPolicy.RETAIN);
    }

    new CfnOutput(this, 'TokenUrl', { value: `${domain.baseUrl()}/oauth2/token` });
    new CfnOutput(this, 'UserPoolId', { value: pool.userPoolId });
    new CfnOutput(this, 'Issuer', { value: pool.userPoolProviderUrl });
    const issuer = Fn.getStackOutput(this.stackName, 'Issuer');
    this.tokenIssuer = { issuer, jwksUri: `${issuer}/.well-known/jwks.json` };
  }
}
