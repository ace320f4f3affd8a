import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import {
  type CfnUserPoolClient,
  OAuthScope,
  ResourceServerScope,
  UserPool,
  type UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { ProbeClient } from '../api/probe.ts';
import { RETAIN_EXCEPT_ON_CREATE, uniquePart } from '../kept-resources.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';

export interface IdentityStackProps extends StackProps {
  readonly names: ResourceNames;
  readonly stage: Pick<Stage, 'apiScope' | 'keepData' | 'probe'>;
}

/**
 * The service's own identity provider, for machine clients that request tokens with `{apiScope}/.default`
 * (docs/contract.md#the-scope). `npm run partner` makes the clients, so that a new partner needs no deployment.
 */
export class IdentityStack extends Stack {
  /** Other stacks read the issuer. While they do, CloudFormation refuses to replace the user pool. */
  readonly tokenIssuer: TokenIssuer;
  /** Set if the stage has a probe. */
  readonly probeClient: ProbeClient | undefined;

  constructor(scope: Construct, id: string, { names, stage, ...props }: IdentityStackProps) {
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
      // The pool is protected only if the stack is: the rollback of a first deployment can't remove a protected pool.
      deletionProtection: this.terminationProtection === true,
      removalPolicy: stage.keepData ? RETAIN_EXCEPT_ON_CREATE : RemovalPolicy.DESTROY,
    });
    const noUsers = 'The pool has machine clients and no users: there is no sign-in to protect.';
    Validations.of(pool).acknowledge(
      { id: 'AwsSolutions-COG2', reason: noUsers },
      { id: 'AwsSolutions-COG8', reason: noUsers },
    );

    // Cognito joins the server's identifier and the scope's name with a slash. A scope's name may begin with a dot.
    const api = new ResourceServerScope({
      scopeName: '.default',
      scopeDescription: 'Read performance reports',
    });
    const server = pool.addResourceServer('Api', {
      identifier: stage.apiScope,
      userPoolResourceServerName: names.service,
      scopes: [api],
    });
    // A domain's prefix must be unique in its region, over all accounts.
    const domain = pool.addDomain('Domain', {
      cognitoDomain: { domainPrefix: `${names.service}-${uniquePart()}` },
    });
    const exported = (id: string, exportName: string, value: string) => {
      new CfnOutput(this, id, { value, exportName });
      return Fn.importValue(exportName);
    };
    const tokenUrl = exported('TokenUrl', names.exported('token-url'), `${domain.baseUrl()}/oauth2/token`);
    if (stage.probe) {
      const client = pool.addClient('Probe', {
        userPoolClientName: 'probe',
        generateSecret: true,
        authFlows: {},
        oAuth: { flows: { clientCredentials: true }, scopes: [OAuthScope.resourceServer(server, api)] },
        accessTokenValidity: Duration.hours(1),
        preventUserExistenceErrors: true,
      });
      const secret = this.#keepSecret(client, `${names.service}-probe`);
      const secretArn = exported('ProbeClient', names.exported('probe-client'), secret.ref);
      this.probeClient = { tokenUrl, secretArn };
    }
    new CfnOutput(this, 'UserPoolId', { value: pool.userPoolId });
    const issuer = exported('Issuer', names.exported('issuer'), pool.userPoolProviderUrl);
    this.tokenIssuer = { issuer, jwksUri: `${issuer}/.well-known/jwks.json`, tokenUrl };
  }

  /**
   * Puts the probe's credentials into a secret that its function can read. No template and no environment shows them.
   */
  #keepSecret(client: UserPoolClient, name: string): CfnSecret {
    const { ref, attrClientSecret } = client.node.defaultChild as CfnUserPoolClient;
    const secret = new CfnSecret(this, 'ProbeSecret', {
      name,
      description: 'The client by which the probe pulls reports',
      secretString: `{"clientId":"${ref}","clientSecret":"${attrClientSecret}"}`,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Cognito makes the secret. A new one comes with a new client.',
    });
    return secret;
  }
}

/** The identity provider whose tokens the API accepts. */
export interface TokenIssuer {
  /** The issuer, exactly as in the tokens' `iss`. */
  readonly issuer: string;
  readonly jwksUri: string;
  /** Where callers request tokens. */
  readonly tokenUrl: string;
  /** The claim that every token must carry, and the value that it must contain. */
  readonly requiredClaim?: { readonly name: string; readonly value: string };
}
