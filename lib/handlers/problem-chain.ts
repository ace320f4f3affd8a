import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from '../answers/problem-response.ts';
import { cors } from './cors.ts';
import type { FunctionParts } from './function-parts.ts';
import { type LoggedContext, requestLog } from './request-log.ts';

/**
 * What every route has around it: one line of log a request, a problem document for whatever is thrown, and leave for
 * the pages of the stage's origins to read the answer.
 */
export const problemChain = ({ config, log, metrics }: Pick<FunctionParts, 'config' | 'log' | 'metrics'>) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
    // First, so that it sees the answer last.
    .use(cors(config.corsOrigins))
    .use(requestLog(log, metrics))
    .onError((request) => {
      request.response = problemResponse(request.error, request.event.requestContext.requestId);
    });
