import {
  AddUserPoolClientSecretCommand,
  CognitoIdentityProviderClient,
  CreateUserPoolClientCommand,
  DeleteUserPoolClientCommand,
  DeleteUserPoolClientSecretCommand,
  DescribeUserPoolClientCommand,
  ListUserPoolClientSecretsCommand,
  paginateListUserPoolClients,
  ResourceNotFoundException,
} from '@aws-sdk/client-cognito-identity-provider';

export type CognitoClients = ReturnType<typeof cognitoClients>;

/**
 * The pool's machine clients and their secrets.
 *
 * @param scope the scope with which tokens must be requested
 */
export function cognitoClients(userPoolId: string, scope: string) {
  const cognito = new CognitoIdentityProviderClient({});
  const pool = { UserPoolId: userPoolId };

  return {
    /** All clients of the pool. Names are not unique in Cognito. */
    async list() {
      const pages = paginateListUserPoolClients({ client: cognito, pageSize: 60 }, pool);
      const listed = (await Array.fromAsync(pages)).flatMap(({ UserPoolClients = [] }) => UserPoolClients);
      return listed.map(({ ClientId: id = '', ClientName: name = '' }) => ({ id, name }));
    },
    /** Makes a client that can get tokens only for the service. */
    async create(name: string) {
      const { UserPoolClient } = await cognito.send(
        new CreateUserPoolClientCommand({
          ...pool,
          ClientName: name,
          GenerateSecret: true,
          AllowedOAuthFlowsUserPoolClient: true,
          AllowedOAuthFlows: ['client_credentials'],
          AllowedOAuthScopes: [scope],
          // The pool has no users, so every flow in which a user signs in is off.
          ExplicitAuthFlows: ['ALLOW_REFRESH_TOKEN_AUTH'],
          AccessTokenValidity: 60,
          TokenValidityUnits: { AccessToken: 'minutes' },
          PreventUserExistenceErrors: 'ENABLED',
        }),
      );
      const { ClientId: id, ClientSecret: secret } = UserPoolClient ?? {};
      if (!id || !secret) throw new Error('Cognito made a client without an id or a secret');
      return { id, secret };
    },
    exists: (id: string) =>
      cognito.send(new DescribeUserPoolClientCommand({ ...pool, ClientId: id })).then(() => true, ifMissing),
    /** Does nothing if the client does not exist. */
    async remove(id: string) {
      await cognito.send(new DeleteUserPoolClientCommand({ ...pool, ClientId: id })).catch(ifMissing);
    },
    /** The ids of the client's secrets, at most two, the oldest first. Cognito never returns their values again. */
    async listSecrets(id: string) {
      const command = new ListUserPoolClientSecretsCommand({ ...pool, ClientId: id });
      const { ClientSecrets = [] } = await cognito.send(command);
      const madeAt = ({ ClientSecretCreateDate: made }: (typeof ClientSecrets)[number]) =>
        made?.getTime() ?? 0;
      ClientSecrets.sort((one, other) => madeAt(one) - madeAt(other));
      return ClientSecrets.map(({ ClientSecretId = '' }) => ClientSecretId);
    },
    /** Resolves to the new secret's value. Cognito returns the value only this once. */
    async addSecret(id: string) {
      const command = new AddUserPoolClientSecretCommand({ ...pool, ClientId: id });
      const { ClientSecretDescriptor } = await cognito.send(command);
      if (!ClientSecretDescriptor?.ClientSecretValue)
        throw new Error('Cognito made a secret without a value');
      return ClientSecretDescriptor.ClientSecretValue;
    },
    async removeSecret(id: string, secretId: string) {
      const target = { ...pool, ClientId: id, ClientSecretId: secretId };
      await cognito.send(new DeleteUserPoolClientSecretCommand(target));
    },
  };
}

function ifMissing(error: unknown): false {
  if (error instanceof ResourceNotFoundException) return false;
  throw error;
}
