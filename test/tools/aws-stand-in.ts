import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { startObjectStore } from '../../local/object-store/object-store.ts';
import { serve } from '../../local/serve.ts';

/** A client of the user pool, as Cognito stores it. */
interface PoolClient {
  readonly ClientId: string;
  readonly ClientName: string;
  readonly AllowedOAuthScopes: readonly string[];
  /** The client's secrets by their ids, the oldest first. */
  readonly secrets: Map<string, string>;
}

/** A function that gets each call to AWS, such as `Cognito CreateUserPoolClient` or `S3 PUT names/x.json`. */
type OnCall = (call: string, when: 'before' | 'after') => Promise<void>;

/** A stand-in for CloudFormation, Cognito and S3 at one address, with the calls that `npm run partner` makes. */
export interface AwsStandIn {
  /** The environment in which a command calls the stand-in instead of AWS. */
  readonly env: Readonly<Record<string, string>>;
  /** The user pool's clients by their ids. */
  readonly clients: Map<string, PoolClient>;
  readonly calls: string[];
  /** Called before and after each call takes effect. If it rejects before a call, the stand-in drops the call. */
  onCall: OnCall;
  /** Answers a call in place of the stand-in: an operation such as `GetWorkGroup`, or a method and a path. */
  answer: (call: string) => Answer | undefined;
  close(): Promise<void>;
}

export const PARTNERS_BUCKET = 'partners';
const SCOPE = 'api://performance-reports/.default';

/**
 * Starts the stand-in with deployed stages.
 *
 * @param stages the stages by name, each with its kind of identity provider
 */
export async function startAwsStandIn(
  stages: Readonly<Record<string, 'cognito' | 'existing'>>,
): Promise<AwsStandIn> {
  const directory = await mkdtemp(join(tmpdir(), 'aws-stand-in-'));
  const s3 = await startObjectStore({ directory, buckets: [PARTNERS_BUCKET] });
  const clients = new Map<string, PoolClient>();
  const calls: string[] = [];

  const { url, close } = await serve(async (request, response) => {
    const body = await buffer(request);
    const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const form = new URLSearchParams(body.toString());
    const action = request.method === 'POST' && !operation ? form.get('Action') : null;
    const call = operation
      ? `Cognito ${operation}`
      : action
        ? `CloudFormation ${action}`
        : `S3 ${request.method} ${decodeURIComponent(request.url ?? '')
            .split('?')[0]
            ?.slice(PARTNERS_BUCKET.length + 2)}`;
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
    return reply(response, answer);
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
      await rm(directory, { recursive: true });
    },
  };
  return standIn;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string | Buffer;
}

const reply = (response: ServerResponse, { status, headers, body }: Answer) => {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value);
  response.writeHead(status).end(body);
};

export const json = (body: object, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.1' },
  body: JSON.stringify(body),
});

export const refusal = (type: string, message: string): Answer => json({ __type: type, message }, 400);

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
      const made = {
        ClientId: randomUUID(),
        ClientName,
        AllowedOAuthScopes,
        secrets: new Map<string, string>(),
      };
      clients.set(made.ClientId, made);
      const { ClientSecretValue } = addSecret(made);
      return json({
        UserPoolClient: { ClientId: made.ClientId, ClientName, ClientSecret: ClientSecretValue },
      });
    }
    case 'DescribeUserPoolClient':
      return client ? json({ UserPoolClient: { ClientId: client.ClientId } }) : missing;
    case 'ListUserPoolClients':
      return json({
        UserPoolClients: [...clients.values()].map(({ ClientId, ClientName }) => ({ ClientId, ClientName })),
      });
    case 'DeleteUserPoolClient':
      return clients.delete(input.ClientId ?? '') ? json({}) : missing;
    case 'ListUserPoolClientSecrets':
      if (!client) return missing;
      return json({
        // The newest first: Cognito says nothing about the order.
        ClientSecrets: [...client.secrets.keys()]
          .map((ClientSecretId, index) => ({ ClientSecretId, ClientSecretCreateDate: 1_700_000_000 + index }))
          .reverse(),
      });
    case 'AddUserPoolClientSecret':
      if (!client) return missing;
      if (client.secrets.size >= 2) return refusal('LimitExceededException', 'Two secrets are active.');
      return json({ ClientSecretDescriptor: addSecret(client) });
    case 'DeleteUserPoolClientSecret':
      if (!client?.secrets.has(input.ClientSecretId ?? '')) return missing;
      if (client.secrets.size === 1)
        return refusal('InvalidParameterException', 'The last secret can not go.');
      client.secrets.delete(input.ClientSecretId ?? '');
      return json({});
    default:
      throw new Error(`unplanned call: ${operation}`);
  }
}

function describeStack(stages: Readonly<Record<string, 'cognito' | 'existing'>>, name: string): Answer {
  const [, stage = '', part = ''] = /^performance-reports-(.+)-(data|identity|api)$/.exec(name) ?? [];
  const kind = stages[stage];
  const token = 'https://login.example/token';
  const outputs: Readonly<Record<string, Record<string, string>>> = {
    data: { PartnersBucket: PARTNERS_BUCKET },
    ...(kind === 'cognito' && { identity: { UserPoolId: 'us-east-1_pool', TokenUrl: token } }),
    api: { ApiUrl: 'https://api.example/dev', Scope: SCOPE, ...(kind === 'existing' && { TokenUrl: token }) },
  };
  const found = kind && outputs[part];
  const headers = { 'content-type': 'text/xml' };
  if (!found)
    return {
      status: 400,
      headers,
      body:
        '<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>' +
        `<Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`,
    };
  const members = Object.entries(found).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return {
    status: 200,
    headers,
    body:
      '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks>' +
      `<member><StackName>${name}</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime>` +
      `<StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member>` +
      '</Stacks></DescribeStacksResult></DescribeStacksResponse>',
  };
}

/** Forwards a call of S3 with its original Host, which is a part of its signature. */
async function forward(
  { method, url, rawHeaders }: IncomingMessage,
  upstream: string,
  body: Buffer,
): Promise<Answer> {
  const outgoing = send(upstream + url, { method, headers: rawHeaders });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
}
