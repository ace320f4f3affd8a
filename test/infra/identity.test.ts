import type { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { grownAccount, keptWithCognito, newAccount } from './accounts.ts';
import { buildStacks, ofType, propertiesOf, resolved, resourcesOf } from './synthesize.ts';

/**
 * The issuer and the keys that the functions trust, except the probe and the release check: these are clients of the
 * API and check no tokens.
 */
const trusted = (api: Stack) =>
  propertiesOf(resourcesOf(api), 'AWS::Lambda::Function')
    .filter(({ FunctionName }) => !/-(probe|release-check)$/.test(String(FunctionName)))
    .map(({ Environment }) => (resolved(Environment) as { Variables: Record<string, string> }).Variables)
    .map(({ TOKEN_ISSUER, TOKEN_JWKS_URI }) => `${TOKEN_ISSUER} ${TOKEN_JWKS_URI}`);

describe('a stage without an existing identity provider', () => {
  const { identity, api } = buildStacks(newAccount);
  const resources = identity ? resourcesOf(identity) : {};

  it('has a user pool with the scope that every token request must name', () => {
    expect(ofType(resources, 'AWS::Cognito::UserPoolResourceServer')[0]?.Properties).toMatchObject({
      Identifier: 'api://performance-reports',
      Scopes: [{ ScopeName: '.default' }],
    });
  });

  it('has only the probe’s client: operators add partners without a deployment, and nobody can sign up', () => {
    const clients = propertiesOf(resources, 'AWS::Cognito::UserPoolClient').map(resolved);
    expect(clients).toEqual([
      expect.objectContaining({
        ClientName: 'probe',
        GenerateSecret: true,
        AllowedOAuthFlows: ['client_credentials'],
        AllowedOAuthFlowsUserPoolClient: true,
        AllowedOAuthScopes: [expect.stringMatching(/^<PartnersApi\w+>\/\.default$/)],
      }),
    ]);
    expect(ofType(resources, 'AWS::Cognito::UserPool')[0]?.Properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
    });
  });

  it('keeps the id and the secret of the probe’s client in Secrets Manager', () => {
    const [secret] = ofType(resources, 'AWS::SecretsManager::Secret');
    expect(resolved(secret?.Properties)).toMatchObject({
      Name: 'performance-reports-test-probe',
      SecretString: expect.stringMatching(/^{"clientId":"<\w+>","clientSecret":"<\w+\.ClientSecret>"}$/),
    });
  });

  it('trusts tokens of its user pool', () => {
    const pool = 'https://cognito.example/pool';
    expect(new Set(trusted(api))).toEqual(new Set([`${pool} ${pool}/.well-known/jwks.json`]));
  });
});

describe('the user pool of a stage that keeps its data', () => {
  const poolOf = (isFirst: boolean) => {
    const { identity } = buildStacks(keptWithCognito, { isFirst });
    return ofType(identity ? resourcesOf(identity) : {}, 'AWS::Cognito::UserPool')[0];
  };

  it('remains when its stack is deleted, and is protected from deletion after the first deployment', () => {
    const policies = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
    for (const [isFirst, DeletionProtection] of [
      [false, 'ACTIVE'],
      // A rollback of the first deployment must be able to remove the pool.
      [true, 'INACTIVE'],
    ] as const)
      expect(poolOf(isFirst)).toMatchObject({ ...policies, Properties: { DeletionProtection } });
  });
});

describe('a stage with an existing identity provider', () => {
  const { identity, api } = buildStacks(grownAccount);

  it('has no user pool, and trusts the provider’s issuer and keys', () => {
    expect(identity).toBeUndefined();
    const provider = 'https://login.example/tenant/v2.0 https://login.example/tenant/keys';
    expect(new Set(trusted(api))).toEqual(new Set([provider]));
  });
});
