import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from '../answers/problem-response.ts';
import type { FunctionParts } from './function-parts.ts';
import { type LoggedContext, requestLog } from './request-log.ts';

/** What every route has around it: one line of log a request, and a problem document for whatever is thrown. */
export const problemChain = ({ log, metrics }: Pick<FunctionParts, 'log' | 'metrics'>) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
    .use(requestLog(log, metrics))
    .onError((request) => {
      request.response = problemResponse(request.error, request.event.requestContext.requestId);
    });
