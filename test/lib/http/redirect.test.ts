import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { redirectToDownload, redirectToWaitingRoom } from '../../../lib/http/answer-delivery.ts';

const URL = 'https://download.example/reports/q1/report.csv?signature=1';

describe('redirectToDownload', () => {
  it('is a 303 that leads to the file and that no cache may store', () => {
    expect(redirectToDownload(URL, { cacheStatus: 'miss', dataVersion: '0123abcd' })).toEqual({
      statusCode: 303,
      headers: {
        Location: URL,
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
        Vary: 'Accept-Encoding',
        'Cache-Status': 'PerformanceReports; fwd=miss',
        'Data-Version': '0123abcd',
      },
      body:
        'The report is ready. GET the URL in the Location header, without an Authorization header. ' +
        'Keep it to yourself: until it expires, whoever has it can download the report.\n',
    });
  });

  it.each([
    ['hit', 'PerformanceReports; hit'],
    ['collapsed', 'PerformanceReports; fwd=miss; collapsed'],
  ] as const)(
    'writes the cache status “%s” as RFC 9211 does, and has no Data-Version if the report has no single version',
    (cacheStatus, words) => {
      const { headers } = redirectToDownload(URL, { cacheStatus });
      expect(headers).toMatchObject({ 'Cache-Status': words });
      expect(headers).not.toHaveProperty('Data-Version');
    },
  );
});

describe('redirectToWaitingRoom', () => {
  it.each([
    ['/prod/reporting/publisherperformance', '/prod/reporting/downloads/T/1'],
    ['/v1/reporting/downloads/T/0', '/v1/reporting/downloads/T/1'],
    ['/reporting/reporting/advertiserperformance', '/reporting/reporting/downloads/T/1'],
  ])('keeps the part of the path before the service’s own path: %s', (path, expected) => {
    const event = { requestContext: { path } } as APIGatewayProxyEvent;
    expect(redirectToWaitingRoom(event, { ticket: 'T', hop: 1 }, 'miss')).toEqual({
      statusCode: 303,
      headers: {
        Location: expected,
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
        Vary: 'Accept-Encoding',
        'Cache-Status': 'PerformanceReports; fwd=miss',
      },
      body:
        'The report is being made. GET the URL in the Location header: it answers when the report is ready, ' +
        'or says where to wait on.\n',
    });
  });
});
