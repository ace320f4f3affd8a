import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { redirectToWaitingRoom } from '../../../lib/http/redirect.ts';

describe('redirectToWaitingRoom', () => {
  it.each([
    ['/reporting/publisherperformance', '/reporting/downloads/T/1'],
    ['/prod/reporting/publisherperformance', '/prod/reporting/downloads/T/1'],
    ['/v1/reporting/downloads/T/0', '/v1/reporting/downloads/T/1'],
    ['/reporting/reporting/advertiserperformance', '/reporting/reporting/downloads/T/1'],
  ])('keeps the part of the path before the service’s own path: %s', (path, expected) => {
    const event = { requestContext: { path } } as APIGatewayProxyEvent;
    expect(redirectToWaitingRoom(event, { ticket: 'T', hop: 1 }, 'miss').headers).toMatchObject({
      Location: expected,
      'Cache-Control': 'no-store',
    });
  });
});
