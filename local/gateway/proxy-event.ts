import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requestHeaders } from './request-headers.ts';
import type { RequestTarget } from './request-target.ts';

/**
 * The event that API Gateway's REST proxy integration passes to a function. Parameters are decoded. Header names keep
 * the caller's case.
 */
export function proxyEvent(
  request: IncomingMessage,
  { path, query: parameters }: RequestTarget,
  route: { requestId: string; resource: string; pathParameters: Record<string, string> | null },
): APIGatewayProxyEvent {
  const { requestId, resource, pathParameters } = route;
  const headers = requestHeaders(request);
  const names = new Set(parameters.keys());
  const query = Object.fromEntries([...names].map((name) => [name, parameters.getAll(name)]));
  const now = Date.now();
  return {
    resource,
    path,
    httpMethod: request.method ?? 'GET',
    headers: lastOfEach(headers),
    multiValueHeaders: headers,
    queryStringParameters: parameters.size > 0 ? lastOfEach(query) : null,
    multiValueQueryStringParameters: parameters.size > 0 ? query : null,
    pathParameters,
    stageVariables: null,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: null,
      domainName: request.socket.localAddress ?? '',
      protocol: 'HTTP/1.1',
      httpMethod: request.method ?? 'GET',
      path,
      stage: 'local',
      requestId,
      requestTimeEpoch: now,
      requestTime: new Date(now).toISOString(),
      resourceId: resource,
      resourcePath: resource,
      identity: {
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? null,
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        user: null,
        userArn: null,
      },
    },
    body: null,
    isBase64Encoded: false,
  };
}

const lastOfEach = (values: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.at(-1) ?? '']));
