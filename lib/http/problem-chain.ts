import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from './problem-response.ts';
import { type LineLog, type LoggedContext, requestLog } from './request-log.ts';

/** What every route has around it: one line of log a request, and a problem document for whatever is thrown. */
export const problemChain = (log: LineLog) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
    .use(requestLog(log))
    .onError((request) => {
      request.response = problemResponse(request.error, request.event.requestContext.requestId);
    });
