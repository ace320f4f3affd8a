import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from '../problems/problem-response.ts';
import { COMMON_HEADERS, VERSION_HEADER } from '../response-headers.ts';
import { cors } from './cors.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { serviceUrl } from './request-header.ts';
import { type LoggedContext, requestLog } from './request-log.ts';

/**
 * The middleware of every route: one log line per request, a problem document for every error, the common headers, the
 * commit's header, and the CORS headers for the stage's origins. `endsReport`: whether an error means a failed report.
 */
export const problemChain = (
  { config, log, metrics }: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>,
  { endsReport = false } = {},
) => {
  const addHeaders: middy.MiddlewareFn<APIGatewayProxyEvent, APIGatewayProxyResult> = ({ response }) => {
    if (response)
      response.headers = { ...response.headers, ...COMMON_HEADERS, [VERSION_HEADER]: config.commit };
  };
  return (
    middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
      // `cors` comes first, because the first middleware sees the answer last.
      .use(cors(config.corsOrigins))
      .use(requestLog(log, metrics, endsReport))
      .use({ after: addHeaders, onError: addHeaders })
      .onError((request) => {
        const { error, event } = request;
        request.response = problemResponse(error, event.requestContext.requestId, serviceUrl(event));
      })
  );
};
