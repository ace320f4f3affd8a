import type { ServerResponse } from 'node:http';

/** An answer of AWS. An object is sent as JSON. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: string | Buffer | object;
}

export function give(response: ServerResponse, { status = 200, headers = {}, body = '' }: Answer): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value);
  response
    .writeHead(status)
    .end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

/** A refusal, in the form of AWS's JSON protocols. */
export const refusal = (type: string, message: string, status = 400): Answer => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: { __type: type, message },
});

const headers = { 'content-type': 'text/xml' };
const xml = (body: string, status = 200): Answer => ({ status, headers, body });

/** The answer to an action of AWS's query protocol. */
export const result = (action: string, content: string): Answer =>
  xml(`<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`);

type Members = Readonly<Record<string, string>>;

/** A list in such an answer. */
export const list = (name: string, elements: readonly Members[]): string => {
  const inner = (each: Members) => Object.entries(each).map(([key, value]) => `<${key}>${value}</${key}>`);
  return `<${name}>${elements.map((each) => `<member>${inner(each).join('')}</member>`).join('')}</${name}>`;
};

/** CloudFormation's description of a stack with these outputs. */
export const stackWith = (outputs: Members, StackStatus = 'CREATE_COMPLETE'): Answer => {
  const pairs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  const stack = `<StackName>x</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime>`;
  const content = `${stack}<StackStatus>${StackStatus}</StackStatus>${list('Outputs', pairs)}`;
  return result('DescribeStacks', `<Stacks><member>${content}</member></Stacks>`);
};

export const noStack = xml(
  '<ErrorResponse><Error><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>',
  400,
);
