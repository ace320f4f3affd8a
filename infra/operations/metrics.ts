import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC, METRIC_DIMENSION, METRIC_NAMESPACE } from '../../lib/metric-names.ts';
import type { ResourceNames } from '../resource-names.ts';

interface MetricOptions {
  readonly statistic?: string;
  readonly period?: Duration;
  readonly label?: string;
}

/** What there is to see of one stage. Counts are sums over five minutes unless said otherwise. */
export interface StageMetrics {
  readonly own: (name: keyof typeof METRIC, options?: MetricOptions) => Metric;
  readonly gateway: (name: '5XXError' | '4XXError' | 'Count' | 'Latency', options?: MetricOptions) => Metric;
  readonly lambda: (
    functionName: string,
    name: 'Duration' | 'Errors' | 'Throttles' | 'ConcurrentExecutions',
    options?: MetricOptions,
  ) => Metric;
  readonly firewall: (name: 'AllowedRequests' | 'BlockedRequests', region: string) => Metric;
  /** Bytes that the whole workgroup processed, by how its queries ended: Athena's own count. */
  readonly scannedByState: () => MathExpression;
  /** Answers 429, off the access log. */
  readonly throttledRequests: () => Metric;
  readonly throttledRequestsName: string;
}

/** The metrics of one stage. */
export function stageMetrics(names: ResourceNames, stageName: string): StageMetrics {
  const make =
    (namespace: string, dimensionsMap: Record<string, string>) =>
    (metricName: string, { statistic = 'Sum', period = Duration.minutes(5), label }: MetricOptions = {}) =>
      new Metric({ namespace, metricName, dimensionsMap, statistic, period, ...(label && { label }) });
  const own = make(METRIC_NAMESPACE, { [METRIC_DIMENSION]: names.service });
  // A metric off a log has no dimension of a constant value: its name holds the stage instead.
  const throttledRequestsName = `ThrottledRequests-${names.service}`;
  return {
    own: (name, options) => own(METRIC[name], options),
    gateway: make('AWS/ApiGateway', { ApiName: names.service, Stage: stageName }),
    lambda: (functionName, name, options) =>
      make('AWS/Lambda', { FunctionName: names.functionName(functionName) })(name, {
        label: functionName,
        ...options,
      }),
    firewall: (name, region) =>
      make('AWS/WAFV2', { WebACL: names.service, Region: region, Rule: 'ALL' })(name),
    scannedByState: () =>
      new MathExpression({
        expression: `SEARCH('{AWS/Athena,QueryState,QueryType,WorkGroup} MetricName="ProcessedBytes" WorkGroup="${names.service}"', 'Sum', 3600)`,
        period: Duration.hours(1),
        label: '',
      }),
    throttledRequests: () => make(METRIC_NAMESPACE, {})(throttledRequestsName),
    throttledRequestsName,
  };
}
