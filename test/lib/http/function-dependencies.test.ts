import { Logger } from '@aws-lambda-powertools/logger';
import type { Metrics } from '@aws-lambda-powertools/metrics';
import * as athena from '@aws-sdk/client-athena';
import { NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { functionDependencies } from '../../../lib/http/function-dependencies.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { LEAST_ENVIRONMENT } from '../../least-environment.ts';

const { AthenaClient, AthenaServiceException, InternalServerException, TooManyRequestsException } = athena;

const ENVIRONMENT = { ...LEAST_ENVIRONMENT, EVENTS_BUCKET: 'events', EVENTS_PREFIX: 'warehouse/' };
const window = { start: Date.parse('2026-01-01T00:00:00Z'), end: Date.parse('2026-01-02T00:00:00Z') };
const later = () => Date.now() + 10_000;

/** Records the commands that the AWS clients send, and answers each command by `answer`. */
function answering(answer: () => unknown) {
  const sent: { name: string; input: object }[] = [];
  const send = async (command: { input: object; constructor: { name: string } }) => {
    sent.push({ name: command.constructor.name, input: command.input });
    return answer();
  };
  vi.spyOn(S3Client.prototype, 'send').mockImplementation(send as never);
  vi.spyOn(AthenaClient.prototype, 'send').mockImplementation(send as never);
  return sent;
}

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  return () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  };
});

describe('functionDependencies', () => {
  it('counts in a request’s facts how often Athena throttled the start of its query', async () => {
    const $metadata = { httpStatusCode: 400 };
    const throttles = [
      new TooManyRequestsException({ message: 'x', $metadata }),
      new AthenaServiceException({ name: 'ThrottlingException', $fault: 'client', message: 'x', $metadata }),
      new InternalServerException({ message: 'x', $metadata: { httpStatusCode: 500 } }),
    ];
    answering(() => {
      const next = throttles.shift();
      if (next) throw next;
      return { QueryExecutionId: 'q1' };
    });
    const facts = {};
    const { queries } = functionDependencies(ENVIRONMENT).backendsUntil(later(), facts);
    expect(await queries.start({ sql: 'SELECT 1', parameters: [] }, 't'.repeat(64))).toBe('q1');
    expect(facts).toEqual({ throttledStarts: 2 });
  });

  it('reads the bucket of a stage’s register, and keeps a record from one request to the next', async () => {
    const sent = answering(() => {
      throw new NoSuchKey({ message: 'x', $metadata: {} });
    });
    const registered = { ...ENVIRONMENT, ENTITLEMENTS: 'partners', PARTNERS_BUCKET: 'partners' };
    const stages = [functionDependencies(registered), functionDependencies(ENVIRONMENT)];
    for (const { backendsUntil } of [...stages, ...stages])
      expect(await backendsUntil(later()).register.find('c')).toBeUndefined();
    expect(sent).toMatchObject([{ name: 'GetObjectCommand', input: { Bucket: 'partners' } }]);
  });

  it('names the commit in every line of the log', () => {
    const lines: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => Boolean(lines.push(String(line))));
    functionDependencies({ ...ENVIRONMENT, COMMIT: 'abc1234' }).log.info('request', {});
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ message: 'request', commit: 'abc1234' }]);
  });

  it('ends every call to AWS by the given time', async () => {
    answering(() => {
      throw Object.assign(new Error('x'), { $metadata: { httpStatusCode: 503 } });
    });
    const { queries, results, lake } = functionDependencies(ENVIRONMENT).backendsUntil(Date.now() + 60);
    const calls = [queries.get('q1'), results.head('reports/x'), lake.list(publisherReport, window, 0)];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  });

  it('keeps listings from one request of the function to the next', async () => {
    const Key = 'warehouse/publisher_events/day=2026-01-01/a.parquet';
    const sent = answering(() => ({ Contents: [{ Key, ETag: '"1"' }] }));
    const { backendsUntil } = functionDependencies(ENVIRONMENT);
    await backendsUntil(later()).lake.list(publisherReport, window, 60_000);
    await backendsUntil(later()).lake.list(publisherReport, window, 60_000);
    expect(sent).toHaveLength(1);
  });

  const forbidden = expect.objectContaining({ operation: 'S3 ListObjectsV2', httpStatus: 403 });
  it.each([
    ['S3 forbids it', ENVIRONMENT, 3, forbidden],
    ['the configuration names no lake', LEAST_ENVIRONMENT, 0, undefined],
  ])('logs once that the lake can not be listed, if %s', async (_, environment, calls, error) => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const sent = answering(() => {
      throw Object.assign(new Error('x'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
    });
    const { backendsUntil } = functionDependencies(environment);
    for (let times = 0; times < 3; times++)
      expect(await backendsUntil(later()).lake.list(publisherReport, window, 0)).toBeUndefined();
    expect(sent).toHaveLength(calls);
    const line = 'The lake can not be listed, so every report is queried anew.';
    expect(warn.mock.calls).toEqual([[line, { error }]]);
  });

  it('writes its metrics to the namespace that the alarms read', () => {
    const metrics = functionDependencies(ENVIRONMENT).metrics as Metrics;
    metrics.addMetric('Reports', 'Count', 1);
    expect(metrics.serializeMetrics()._aws.CloudWatchMetrics[0]?.Namespace).toBe('PerformanceReports');
    metrics.clearMetrics();
  });
});
