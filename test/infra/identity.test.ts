import type { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { grownAccount, newAccount } from './accounts.ts';
import { buildStacks, ofType, resolved, resourcesOf } from './synthesize.ts';

/** The probe asks from outside: it checks no tokens. */
const serviceFunctionsOf = (api: Stack) =>
  ofType(resourcesOf(api), 'AWS::Lambda::Function').filter(
    ({ Properties }) => !String(Properties['FunctionName']).endsWith('-probe'),
  );

describe('without an issuer of its own, a stage', () => {
  const { identity, api } = buildStacks(newAccount);
  const resources = identity ? resourcesOf(identity) : {};

  it('has a user pool with the scope that tokens must be requested with', () => {
    expect(ofType(resources, 'AWS::Cognito::UserPoolResourceServer')[0]?.Properties).toMatchObject({
      Identifier: 'api://performance-reports',
      Scopes: [{ ScopeName: '.default' }],
    });
  });

  it('has a machine client with a secret for each partner and the probe, and no other way to a token', () => {
    const clients = ofType(resources, 'AWS::Cognito::UserPoolClient').map(({ Properties }) =>
      resolved(Properties),
    );
    for (const client of clients)
      expect(client).toMatchObject({
        GenerateSecret: true,
        AllowedOAuthFlows: ['client_credentials'],
        AllowedOAuthFlowsUserPoolClient: true,
        AllowedOAuthScopes: [expect.stringMatching(/^<PartnersApi\w+>\/\.default$/)],
      });
    expect(clients.map((client) => (client as Record<string, unknown>)['ClientName'])).toEqual([
      'first-partner',
      'second-partner',
      'probe',
    ]);
    expect(ofType(resources, 'AWS::Cognito::UserPool')[0]?.Properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
    });
  });

  it('keeps the secret of the probe’s client where its function alone reads it', () => {
    const [secret] = ofType(resources, 'AWS::SecretsManager::Secret');
    expect(resolved(secret?.Properties)).toMatchObject({
      Name: 'performance-reports-test-probe',
      SecretString: expect.stringMatching(/^{"clientId":"<\w+>","clientSecret":"<\w+\.ClientSecret>"}$/),
    });
  });

  it('trusts that pool', () => {
    for (const { Properties } of serviceFunctionsOf(api))
      expect(resolved(Properties['Environment'])).toMatchObject({
        Variables: {
          TOKEN_ISSUER: 'https://cognito.example/pool',
          TOKEN_JWKS_URI: 'https://cognito.example/pool/.well-known/jwks.json',
        },
      });
  });
});

describe('with an existing issuer, a stage', () => {
  const { identity, api } = buildStacks(grownAccount);

  it('has no user pool', () => {
    expect(identity).toBeUndefined();
  });

  it('trusts that issuer and its keys', () => {
    for (const { Properties } of serviceFunctionsOf(api))
      expect(Properties['Environment']).toMatchObject({
        Variables: {
          TOKEN_ISSUER: 'https://login.example/tenant/v2.0',
          TOKEN_JWKS_URI: 'https://login.example/tenant/keys',
        },
      });
  });
});
