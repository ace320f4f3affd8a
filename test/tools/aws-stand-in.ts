import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startObjectStore } from '../../local/object-store/object-store.ts';
import { serve } from '../../local/serve.ts';
import { ownFolder } from '../own-folder.ts';
import { type Answer, give, noStack, refusal, stackWith } from './aws-answer.ts';

/** A client of the user pool, as Cognito stores it. */
interface PoolClient {
  readonly ClientId: string;
  readonly ClientName: string;
  readonly AllowedOAuthScopes: readonly string[];
  /** The client's secrets by their ids, the oldest first. */
  readonly secrets: Map<string, string>;
}

/** A stand-in for CloudFormation, Cognito and S3 at one address, with the calls that `npm run partner` makes. */
export interface AwsStandIn {
  /** The environment in which a command calls the stand-in instead of AWS. */
  readonly env: Readonly<Record<string, string>>;
  /** The user pool's clients by their ids. */
  readonly clients: Map<string, PoolClient>;
  readonly calls: string[];
  /**
   * Gets each call, such as `Cognito CreateUserPoolClient` or `S3 PUT names/x.json`, before and after it takes effect. If
   * it rejects before a call, the stand-in drops the call.
   */
  onCall: (call: string, when: 'before' | 'after') => Promise<void>;
  /** Answers a call in place of the stand-in: an operation such as `GetWorkGroup`, or a method and a path. */
  answer: (call: string) => Answer | undefined;
  close(): Promise<void>;
}

export const PARTNERS_BUCKET = 'partners';
const SCOPE = 'api://performance-reports/.default';

/** The stages by name, each with its kind of identity provider. */
type Stages = Readonly<Record<string, 'cognito' | 'existing'>>;

/** Starts the stand-in with deployed stages. */
export async function startAwsStandIn(stages: Stages): Promise<AwsStandIn> {
  const s3 = await startObjectStore({ directory: await ownFolder(), buckets: [PARTNERS_BUCKET] });
  const clients = new Map<string, PoolClient>();
  const calls: string[] = [];

  const { url, close } = await serve(async (request, response) => {
    const body = await buffer(request);
    const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const form = new URLSearchParams(body.toString());
    const action = request.method === 'POST' && !operation ? form.get('Action') : null;
    const [path = ''] = decodeURIComponent(request.url ?? '').split('?');
    const s3Call = `S3 ${request.method} ${path.slice(PARTNERS_BUCKET.length + 2)}`;
    const call = operation ? `Cognito ${operation}` : action ? `CloudFormation ${action}` : s3Call;
    calls.push(call);
    try {
      await standIn.onCall(call, 'before');
    } catch {
      return response.destroy();
    }
    const answer =
      standIn.answer(operation ?? action ?? `${request.method} ${request.url}`) ??
      (operation
        ? cognito(clients, operation, JSON.parse(body.toString()))
        : action
          ? describeStack(stages, form.get('StackName') ?? '')
          : await forward(request, s3.url, body));
    await standIn.onCall(call, 'after');
    return give(response, answer);
  });

  const standIn: AwsStandIn = {
    env: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    },
    clients,
    calls,
    onCall: async () => {},
    answer: () => undefined,
    async close() {
      await close();
      await s3.close();
    },
  };
  return standIn;
}

interface CognitoInput {
  readonly ClientId?: string;
  readonly ClientName?: string;
  readonly AllowedOAuthScopes?: readonly string[];
  readonly ClientSecretId?: string;
}

/** Answers an operation of the user pool, as AWS documents it. A client never has more than two secrets. */
function cognito(clients: Map<string, PoolClient>, operation: string, input: CognitoInput): Answer {
  const client = clients.get(input.ClientId ?? '');
  const missing = refusal('ResourceNotFoundException', `User pool client ${input.ClientId} does not exist.`);
  const addSecret = ({ ClientId, secrets }: PoolClient) => {
    const id = `${ClientId}--${secrets.size}-${randomUUID()}`;
    secrets.set(id, randomUUID());
    return { ClientSecretId: id, ClientSecretValue: secrets.get(id) };
  };
  switch (operation) {
    case 'CreateUserPoolClient': {
      const { ClientName = '', AllowedOAuthScopes = [] } = input;
      const ClientId = randomUUID();
      const made = { ClientId, ClientName, AllowedOAuthScopes, secrets: new Map<string, string>() };
      clients.set(ClientId, made);
      const { ClientSecretValue: ClientSecret } = addSecret(made);
      return { body: { UserPoolClient: { ClientId, ClientName, ClientSecret } } };
    }
    case 'DescribeUserPoolClient':
      return client ? { body: { UserPoolClient: { ClientId: client.ClientId } } } : missing;
    case 'ListUserPoolClients':
      return { body: { UserPoolClients: [...clients.values()].map(({ secrets, ...client }) => client) } };
    case 'DeleteUserPoolClient':
      return clients.delete(input.ClientId ?? '') ? { body: {} } : missing;
    case 'ListUserPoolClientSecrets':
      if (!client) return missing;
      // The newest first: Cognito says nothing about the order.
      return {
        body: {
          ClientSecrets: [...client.secrets.keys()]
            .map((ClientSecretId, index) => ({
              ClientSecretId,
              ClientSecretCreateDate: 1_700_000_000 + index,
            }))
            .reverse(),
        },
      };
    case 'AddUserPoolClientSecret':
      if (!client) return missing;
      if (client.secrets.size >= 2) return refusal('LimitExceededException', 'Two secrets are active.');
      return { body: { ClientSecretDescriptor: addSecret(client) } };
    case 'DeleteUserPoolClientSecret':
      if (!client?.secrets.has(input.ClientSecretId ?? '')) return missing;
      if (client.secrets.size === 1)
        return refusal('InvalidParameterException', 'The last secret can not go.');
      client.secrets.delete(input.ClientSecretId ?? '');
      return { body: {} };
    default:
      throw new Error(`unplanned call: ${operation}`);
  }
}

function describeStack(stages: Stages, name: string): Answer {
  const [, stage = '', part = ''] = /^performance-reports-(.+)-(data|identity|api)$/.exec(name) ?? [];
  const kind = stages[stage];
  const TokenUrl = 'https://login.example/token';
  const outputs: Readonly<Record<string, Record<string, string>>> = {
    data: { PartnersBucket: PARTNERS_BUCKET },
    ...(kind === 'cognito' && { identity: { UserPoolId: 'us-east-1_pool', TokenUrl } }),
    api: { ApiUrl: 'https://api.example/dev', Scope: SCOPE, ...(kind === 'existing' && { TokenUrl }) },
  };
  const found = kind && outputs[part];
  return found ? stackWith(found) : noStack;
}

/** Forwards a call of S3 with its original Host, which is a part of its signature. */
async function forward(request: IncomingMessage, upstream: string, body: Buffer): Promise<Answer> {
  const { method, url, rawHeaders: headers } = request;
  const outgoing = send(upstream + url, { method, headers }).end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
}
