import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Reads texts from AWS Secrets Manager, by name or ARN. Throws the SDK's errors. */
export function secretReader(client = new SecretsManagerClient()): (id: string) => Promise<string> {
  return async (id) => {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    if (SecretString === undefined) throw new Error(`The secret ${id} holds no text`);
    return SecretString;
  };
}
