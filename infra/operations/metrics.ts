import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import { METRIC, METRIC_DIMENSION, METRIC_NAMESPACE } from '../../lib/names.ts';
import { gatewayProblems } from '../../lib/problems/gateway-problems.ts';
import { deliveringFunctions } from '../api/service-functions.ts';
import type { ResourceNames } from '../resource-names.ts';

interface MetricOptions {
  readonly statistic?: string;
  readonly period?: Duration;
  readonly label?: string;
}

/** The kinds of answers that CloudWatch counts in the access log, by the pattern of their lines. */
export const ANSWER_KINDS = {
  throttled: FilterPattern.stringValue('$.status', '=', '429'),
  // Without requests that the firewall blocks: those of scanners, which would look like partners without access.
  refused: FilterPattern.all(
    FilterPattern.any(
      FilterPattern.stringValue('$.status', '=', '401'),
      FilterPattern.stringValue('$.status', '=', '403'),
    ),
    FilterPattern.stringValue('$.gatewayAnswer', '!=', gatewayProblems.refusedByFirewall.responseType),
  ),
} as const;

export type AnswerKind = keyof typeof ANSWER_KINDS;

/**
 * The final states of a query. The documentation of the metrics spells the last state with one l, that of the API with
 * two. The list has both spellings, of which only one has data.
 */
const FINAL_STATES = ['SUCCEEDED', 'FAILED', 'CANCELED', 'CANCELLED'];

type GatewayMetric = '5XXError' | '4XXError' | 'Count' | 'Latency';

type LambdaMetric =
  | 'Duration'
  | 'Errors'
  | 'Throttles'
  | 'Invocations'
  | 'AsyncEventsDropped'
  | 'DestinationDeliveryFailures';

export type StageMetrics = ReturnType<typeof stageMetrics>;

/** The metrics of one stage. Counts are sums over five minutes unless a comment says otherwise. */
export function stageMetrics(names: ResourceNames, stageName: string) {
  const make =
    (namespace: string, dimensionsMap: Record<string, string>) =>
    (metricName: string, { statistic = 'Sum', period = Duration.minutes(5), label }: MetricOptions = {}) =>
      new Metric({ namespace, metricName, dimensionsMap, statistic, period, ...(label && { label }) });
  const own = make(METRIC_NAMESPACE, { [METRIC_DIMENSION]: names.service });
  const gateway = (name: GatewayMetric, options?: MetricOptions) =>
    make('AWS/ApiGateway', { ApiName: names.service, Stage: stageName })(name, options);
  const athena = (QueryState: string) =>
    make('AWS/Athena', { QueryState, QueryType: 'DML', WorkGroup: names.service });
  const lambda = (functionName: string, name: LambdaMetric, options?: MetricOptions) =>
    make('AWS/Lambda', { FunctionName: names.functionName(functionName) })(name, {
      label: functionName,
      ...options,
    });
  // A metric filter can't set a dimension to a constant value. So the metric's name contains the stage.
  const answersName = (kind: AnswerKind) =>
    `${kind[0]?.toUpperCase()}${kind.slice(1)}Requests-${names.service}`;
  const answers = (kind: AnswerKind, options?: MetricOptions) =>
    make(METRIC_NAMESPACE, {})(answersName(kind), options);
  return {
    own: (name: keyof typeof METRIC, options?: MetricOptions) => own(METRIC[name], options),
    gateway,
    lambda,
    /** A metric of the rule that starts the publishing function. */
    rule: (name: 'FailedInvocations' | 'InvocationsFailedToBeSentToDlq') =>
      make('AWS/Events', { RuleName: names.publicationRule })(name),
    /** The maximum number of events in the dead-letter queue, which wait for the operator. */
    lostEvents: () =>
      make('AWS/SQS', { QueueName: names.lostEvents })('ApproximateNumberOfMessagesVisible', {
        statistic: 'Maximum',
        label: 'waiting in the queue',
      }),
    firewall: (name: 'AllowedRequests' | 'BlockedRequests', region: string) =>
      make('AWS/WAFV2', { WebACL: names.service, Region: region, Rule: 'ALL' })(name),
    /** Bytes that the whole workgroup processed, by the final state of its queries. Athena itself counts them. */
    scannedByState: () =>
      new MathExpression({
        expression: `SEARCH('{AWS/Athena,QueryState,QueryType,WorkGroup} MetricName="ProcessedBytes" WorkGroup="${names.service}"', 'Sum', 3600)`,
        period: Duration.hours(1),
        label: '',
      }),
    /** Bytes that the whole workgroup processed in an hour, by queries in any final state. Athena charges for them. */
    scannedInAnHour: () => {
      const period = Duration.hours(1);
      const states = FINAL_STATES.map((state) => athena(state)('ProcessedBytes', { period }));
      return sumOf(states, 'bytes', period);
    },
    /** The share of failed reports among those delivered or failed; 0 if there were fewer than `leastReports`. */
    failedShare: (period: Duration, leastReports: number) => {
      // After a crash, a time-out or a throttle, no handler can count the failure. Lambda's own metrics count it.
      const failures = [
        own(METRIC.failedReports, { period }),
        ...deliveringFunctions.flatMap(({ name }) =>
          (['Errors', 'Throttles'] as const).map((count) => lambda(name, count, { period })),
        ),
      ];
      const failed = failures.map((_, index) => `f${index}`);
      // SUM takes a metric without data as 0. The operator + does not.
      const ended = `SUM([delivered, ${failed.join(', ')}])`;
      return new MathExpression({
        expression: `IF(${ended} >= ${leastReports}, SUM([${failed.join(', ')}]) / ${ended}, 0)`,
        usingMetrics: {
          delivered: own(METRIC.reports, { period }),
          ...Object.fromEntries(failures.map((metric, index) => [`f${index}`, metric])),
        },
        label: 'share of reports that fail',
        period,
      });
    },
    /**
     * The share of requests that were answered 401, or 403 by another than the firewall; 0 if there were fewer than
     * `leastRequests`.
     */
    refusedShare: (period: Duration, leastRequests: number) =>
      new MathExpression({
        expression: `IF(requests >= ${leastRequests}, FILL(part, 0) / requests, 0)`,
        usingMetrics: {
          part: answers('refused', { period }),
          requests: gateway('Count', { statistic: 'SampleCount', period }),
        },
        label: 'share of 401 and 403',
        period,
      }),
    /** Answers of one kind, counted in the access log. */
    answers,
    answersName,
  };
}

/** The sum of metrics. A metric without data counts as 0. */
export const sumOf = (metrics: readonly Metric[], label: string, period = Duration.minutes(5)) =>
  new MathExpression({
    expression: 'SUM(METRICS())',
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric])),
    label,
    period,
  });
