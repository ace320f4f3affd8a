import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { settingsOf } from '../../lib/function-settings.ts';
import type { Invocation } from './invocation.ts';
import type { ModelledLambda } from './modelled-lambda.ts';
import { clientOf } from './modelled-register.ts';
import type { ModelledService } from './service.ts';
import type { World } from './world.ts';

const FUNCTION_LIMIT_MS = settingsOf('downloads').timeoutSeconds * 1_000;

/** The milliseconds that API Gateway and the network add to a request. Assumed. */
const GATEWAY_MS = 25;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The run of the function that answered. */
  readonly invocation: Invocation;
  /** Why the function ended before it answered. */
  readonly died?: string;
  /** The error that the function's handler threw. No handler may throw. */
  readonly threw?: unknown;
}

/** Models API Gateway: it runs the function of a path, and gives the function's answer. */
export interface Gateway {
  get(
    url: string,
    request: { readonly id: string; readonly partner: string; readonly acceptsGzip: boolean },
  ): Promise<Answer>;
}

export function gateway(world: World, lambda: ModelledLambda, service: ModelledService): Gateway {
  return {
    async get(url, { id, partner, acceptsGzip }) {
      await world.time.delay(GATEWAY_MS);
      const { pathname, searchParams } = new URL(url, 'https://reports.example');
      const [, , route = '', ticket = '', hop = ''] = pathname.split('/');
      const isHop = route === 'downloads';
      const handler = isHop ? 'downloads' : ticket === 'days' ? 'days' : 'report';
      const event = {
        httpMethod: 'GET',
        path: pathname,
        multiValueHeaders: {
          Accept: ['text/csv'],
          ...(!isHop && { Authorization: [`Bearer ${clientOf(partner)}`] }),
          ...(acceptsGzip && { 'Accept-Encoding': ['gzip'] }),
        },
        multiValueQueryStringParameters: Object.fromEntries(
          [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]),
        ),
        pathParameters: isHop ? { ticket, hop } : null,
        requestContext: { requestId: id, path: pathname },
      } as unknown as APIGatewayProxyEvent;
      const { outcome, invocation } = await lambda.invoke<APIGatewayProxyResult>(
        handler === 'report' ? route : handler,
        id,
        { limitMs: FUNCTION_LIMIT_MS, partner },
        (machine, context) => service[handler](event, machine, context),
      );
      if (outcome.state !== 'answered')
        // API Gateway reports an integration failure to the caller (`lib/problems/gateway-problems.ts`).
        return {
          status: 500,
          headers: {},
          body: '',
          invocation,
          ...(outcome.state === 'died' ? { died: outcome.why } : { threw: outcome.error }),
        };
      const { statusCode, headers, body } = outcome.value;
      return { status: statusCode, headers: (headers ?? {}) as Record<string, string>, body, invocation };
    },
  };
}
