import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reportingFunctions } from '../../infra/api/service-functions.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { anchorsOf } from '../docs/markdown.ts';
import { grownAccount, keptWithCognito, newAccount } from './accounts.ts';
import { buildStacks, ofType, propertiesOf, type Resource, resolved, resourcesOf } from './synthesize.ts';

const { operations, api } = buildStacks(newAccount);
const resources = resourcesOf(operations);
/** The alarms of a stage with topics of its own, whose days are final six hours after their end. */
const kept = resourcesOf(buildStacks(keptWithCognito).operations);
const composite = propertiesOf(resources, 'AWS::CloudWatch::CompositeAlarm');
const metricAlarms = propertiesOf(resources, 'AWS::CloudWatch::Alarm');
/** Whether an alarm is only the input of a composite alarm, and notifies nobody. */
const isWindow = ({ AlarmName }: Resource['Properties']) => /-in-\d+-minutes$/.test(String(AlarmName));
const alarms = [...composite, ...metricAlarms.filter((alarm) => !isWindow(alarm))];
const named = (name: string) =>
  [...composite, ...metricAlarms].find(({ AlarmName }) => AlarmName === `performance-reports-test-${name}`);
/** The metrics and expressions of an alarm that uses metric math, by their ids. */
const mathOf = (name: string) =>
  Object.fromEntries(
    ((named(name)?.['Metrics'] ?? []) as { Id: string }[]).map((metric) => [metric.Id, metric]),
  );
/** The metrics that an alarm adds up. */
const metricsOf = (name: string) =>
  Object.values(mathOf(name)).flatMap((entry) => {
    const { MetricStat } = entry as { MetricStat?: { Stat: string; Metric: Record<string, unknown> } };
    if (!MetricStat) return [];
    const { Namespace, MetricName, Dimensions } = MetricStat.Metric as Record<string, { Value: string }[]>;
    return [`${Namespace} ${MetricName} ${Dimensions?.map(({ Value }) => Value)} ${MetricStat.Stat}`];
  });
/** The name of a metric of this stage in full: `Lambda` is `AWS/Lambda`, and `*` the service. */
const inFull = (metric: string) => `AWS/${metric.replace('*', 'performance-reports-test')}`;
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const problems = readFileSync(new URL('../../docs/problems.md', import.meta.url), 'utf8');

describe('the alarms', () => {
  it('watch faults, latency, queries, throttles, refusals, large reports, cost and the probe; page if partners get nothing or costs grow', () => {
    const severities = alarms.map(({ AlarmName, AlarmDescription }) => {
      const [, severity] = /^\[(\w+)\] /.exec(String(AlarmDescription)) ?? [];
      return `${severity} ${String(AlarmName).replace('performance-reports-test-', '')}`;
    });
    expect(severities).toEqual([
      'page reports-fail-fast',
      'ticket reports-fail-slowly',
      'ticket reports-are-slow',
      'ticket queries-fail',
      'ticket engine-is-saturated',
      'ticket queries-are-throttled',
      'ticket functions-are-throttled',
      'ticket requests-are-throttled',
      'page callers-are-refused',
      'ticket large-reports-fail',
      'ticket publishing-fails',
      'page events-are-lost',
      'page much-is-scanned',
      'page probe-gets-no-report',
      'page no-data-came',
    ]);
    const throttled = { Threshold: 20, EvaluationPeriods: 3, DatapointsToAlarm: 2 };
    expect(named('functions-are-throttled')).toMatchObject(throttled);
    expect(named('queries-are-throttled')).toMatchObject({ ...throttled, MetricName: 'ThrottledStarts' });
  });

  it('go to the operator’s own topics if the stage names topics', () => {
    const { topicArn, ticketTopicArn } = keptWithCognito.alarms;
    const alarms = { ...newAccount.alarms, topicArn };
    const one = resourcesOf(buildStacks({ ...newAccount, alarms }).operations);
    const topicsOf = (made: typeof kept) => {
      const actionsOf = (severity: string) =>
        Object.values(made)
          .map(({ Properties = {} }) => Properties)
          .filter((each) => each['AlarmActions'] && String(each['AlarmDescription']).startsWith(severity))
          .flatMap((each) => [resolved(each['AlarmActions']), resolved(each['OKActions'])].map(String));
      const topics = ofType(made, 'AWS::SNS::Topic').length;
      return [topics, ...['[page]', '[ticket]'].map((severity) => [...new Set(actionsOf(severity))].join())];
    };
    expect(topicsOf(one)).toEqual([0, topicArn, topicArn]);
    expect(topicsOf(kept)).toEqual([0, topicArn, ticketTopicArn]);
  });

  it('describe what partners notice, and link to an entry of the runbook', () => {
    const anchors = anchorsOf(runbook);
    for (const { AlarmDescription } of alarms) {
      const link =
        /^\[(?:page|ticket)\] .{40,} What to do: https:\/\/git\.example\/reports\/docs\/runbook\.md#(?<anchor>[a-z-]+)$/;
      expect(AlarmDescription).toMatch(link);
      expect(anchors).toContain(link.exec(String(AlarmDescription))?.groups?.['anchor']);
    }
  });

  it('fire if so many reports fail, in both windows, that a month’s error budget lasts only days', () => {
    const rules = ['fast', 'slowly'].map((speed) =>
      RegExp(`^\\(ALARM\\("<reportsfail${speed}in\\d+minutes\\w+.Arn>"\\) AND ALARM\\(.*\\)\\)$`),
    );
    const found = composite.map(({ AlarmRule }) => resolved(AlarmRule));
    expect(found).toEqual(rules.map((rule) => expect.stringMatching(rule)));
    const windows = metricAlarms.filter(isWindow);
    const thresholds = windows.map(({ Threshold }) => Number(Threshold).toFixed(3));
    expect(thresholds).toEqual(['0.072', '0.072', '0.030', '0.030']);
    for (const window of windows) expect(window['AlarmActions']).toBeUndefined();
    const failing = [...reports.map(({ name }) => name), 'downloads'];
    const ofFunction = (name: string) => [`Lambda Errors *-${name} Sum`, `Lambda Throttles *-${name} Sum`];
    const failures = [
      'PerformanceReports FailedReports performance-reports-test Sum',
      ...failing.flatMap(ofFunction).map(inFull),
    ];
    const reported = 'PerformanceReports Reports performance-reports-test Sum';
    expect(metricsOf('reports-fail-fast-in-60-minutes')).toEqual([reported, ...failures]);
    const { expr_1, ...counts } = mathOf('reports-fail-fast-in-60-minutes');
    const names = failures.map((_, index) => `f${index}`);
    const failed = `SUM([${names.join(', ')}])`;
    const all = `SUM([delivered, ${names.join(', ')}])`;
    expect(expr_1).toMatchObject({ Expression: `IF(${all} >= 20, ${failed} / ${all}, 0)` });
    expect(Object.keys(counts)).toEqual(['delivered', ...names]);
    for (const count of Object.values(counts)) expect(count).toMatchObject({ MetricStat: { Period: 3_600 } });
  });

  it.each([
    ['reports-fail-fast-in-60-minutes', { failed: 2, of: 20 }],
    // A small stage has few reports in five minutes, and still pages.
    ['reports-fail-fast-in-5-minutes', { failed: 1, of: 2 }],
    ['reports-fail-slowly-in-360-minutes', { failed: 2, of: 60 }],
    ['reports-fail-slowly-in-30-minutes', { failed: 1, of: 5 }],
  ])('fire in the window %s from the fewest reports %j', (name, fewest) => {
    const { Expression } = mathOf(name)['expr_1'] as unknown as { Expression: string };
    const of = Number(/^IF\(SUM\(\[.+?\]\) >= (\d+), /.exec(Expression)?.[1]);
    expect({ failed: Math.ceil(of * Number(named(name)?.['Threshold'])), of }).toEqual(fewest);
  });

  it.each([
    ['probe-gets-no-report', 'ProbePulled'],
    ['no-data-came', 'ProbeRows'],
  ])('let no good pull of the same period hide a bad one (%s)', (name, MetricName) => {
    const least = { Statistic: 'Minimum', ComparisonOperator: 'LessThanThreshold', Threshold: 1 };
    expect(named(name)).toMatchObject({ MetricName, ...least });
  });

  it('tell of a day that is later than the operator promises, if the operator promises anything', () => {
    const [alarm] = propertiesOf(kept, 'AWS::CloudWatch::Alarm').filter(({ AlarmName }) =>
      String(AlarmName).endsWith('yesterday-is-not-final'),
    );
    expect(alarm).toMatchObject({ MetricName: 'LateDays', Statistic: 'Maximum', Threshold: 1 });
    expect(alarm?.['AlarmDescription']).toContain('[ticket] A day is not final 6 hours after its end');
    expect(named('yesterday-is-not-final')).toBeUndefined();
  });

  it('read at most as many metrics as AWS allows for an alarm', () => {
    for (const { AlarmName } of metricAlarms)
      expect(metricsOf(String(AlarmName).replace('performance-reports-test-', '')).length).toBeLessThan(11);
  });

  it('fire for the bytes that the workgroup scans in an hour, including those of failed queries', () => {
    const { expr_1, ...states } = mathOf('much-is-scanned') as Record<string, Record<string, unknown>>;
    expect(expr_1).toMatchObject({ Expression: 'SUM(METRICS())' });
    const metricOf = (state: string) => {
      const dimensions = { QueryState: state, QueryType: 'DML', WorkGroup: 'performance-reports-test' };
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      const Metric = { Namespace: 'AWS/Athena', MetricName: 'ProcessedBytes', Dimensions };
      return { MetricStat: { Metric, Period: 3_600, Stat: 'Sum' } };
    };
    const counted = ['SUCCEEDED', 'FAILED', 'CANCELED', 'CANCELLED'].map(metricOf);
    expect(Object.values(states)).toMatchObject(counted);
    expect(named('much-is-scanned')).toMatchObject({ Threshold: 20_000_000_000 });
  });

  it('fire if a large report is given up, and if callers are refused', () => {
    expect(named('large-reports-fail')).toMatchObject({ Threshold: 1 });
    const failed = ['Lambda AsyncEventsDropped *-publish Sum', 'Lambda Invocations *-abandon Sum'];
    expect(metricsOf('large-reports-fail')).toEqual(failed.map(inFull));
    expect(mathOf('callers-are-refused')).toMatchObject({
      part: { MetricStat: { Metric: { MetricName: 'RefusedRequests-performance-reports-test' } } },
    });
    const filters = propertiesOf(resources, 'AWS::Logs::MetricFilter').map((each) => each['FilterPattern']);
    // The firewall's own refusals are not counted.
    expect(filters).toEqual([
      '{ $.status = "429" }',
      '{ (($.status = "401") || ($.status = "403")) && ($.gatewayAnswer != "WAF_FILTERED") }',
    ]);
  });

  it('fire for events that are lost, and while an event waits in the queue of lost events', () => {
    expect(named('events-are-lost')).toMatchObject({ Threshold: 1 });
    expect(metricsOf('events-are-lost')).toEqual([
      'AWS/SQS ApproximateNumberOfMessagesVisible performance-reports-test-lost-events Maximum',
      'AWS/Events FailedInvocations performance-reports-test-publication-requested Sum',
      'AWS/Events InvocationsFailedToBeSentToDlq performance-reports-test-publication-requested Sum',
      'AWS/Lambda DestinationDeliveryFailures performance-reports-test-publish Sum',
      'AWS/Lambda DestinationDeliveryFailures performance-reports-test-abandon Sum',
      'AWS/Lambda AsyncEventsDropped performance-reports-test-abandon Sum',
    ]);
    const names = (type: string, property: string) =>
      ofType(resourcesOf(api), type).map(({ Properties }) => Properties[property]);
    expect(names('AWS::SQS::Queue', 'QueueName')).toContain('performance-reports-test-lost-events');
    const rule = 'performance-reports-test-publication-requested';
    expect(names('AWS::Events::Rule', 'Name')).toContain(rule);
  });

  it('stay quiet without requests, but fire if the probe sends no metrics', () => {
    for (const { AlarmName, TreatMissingData } of metricAlarms) {
      const isProbe = /probe|no-data/.test(String(AlarmName));
      expect(TreatMissingData).toBe(isProbe ? 'breaching' : 'notBreaching');
    }
  });

  it('notify a topic, and an address if the stage has one', () => {
    const [topic] = Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::SNS::Topic');
    for (const alarm of alarms)
      expect(alarm).toMatchObject({ AlarmActions: [{ Ref: topic?.[0] }], OKActions: [{ Ref: topic?.[0] }] });
    // One statement lets alarms publish, the other denies what comes without TLS.
    const policies = JSON.stringify(ofType(resources, 'AWS::SNS::TopicPolicy'));
    const actions = policies.match(/"Action":("[^"]*"|\[[^\]]*\])/g);
    expect(actions).toEqual(['"Action":"sns:Publish"', '"Action":"sns:Publish"']);
    expect(ofType(resources, 'AWS::SNS::Subscription')).toEqual([]);
    const grown = resourcesOf(buildStacks(grownAccount).operations);
    const address = { Protocol: 'email', Endpoint: 'operator@example.com' };
    expect(ofType(grown, 'AWS::SNS::Subscription')[0]?.Properties).toMatchObject(address);
  });

  it('watch functions, an API, a stage and a log that the API stack really has', () => {
    const known = JSON.stringify(resolved(resources));
    const made = resourcesOf(api);
    const functionNames = propertiesOf(made, 'AWS::Lambda::Function').map((each) => each['FunctionName']);
    for (const { name } of reportingFunctions) {
      const functionName = `performance-reports-test-${name}`;
      expect(functionNames).toContain(functionName);
      expect(known).toContain(`"Value":"${functionName}"`);
    }
    const [rest, stage] = ['RestApi', 'Stage'].map(
      (type) => ofType(made, `AWS::ApiGateway::${type}`)[0]?.Properties,
    );
    const ApiName = { Name: 'ApiName', Value: rest?.['Name'] };
    const Dimensions = [ApiName, { Name: 'Stage', Value: stage?.['StageName'] }];
    expect(named('reports-are-slow')).toMatchObject({ Dimensions });
    const logs = ofType(made, 'AWS::Logs::LogGroup').map(({ Properties }) => Properties['LogGroupName']);
    expect(logs).toContain(ofType(resources, 'AWS::Logs::MetricFilter')[0]?.Properties['LogGroupName']);
  });
});

describe('the saved log queries about partners', () => {
  const saved = propertiesOf(resources, 'AWS::Logs::QueryDefinition');

  it('are saved under the name of the service, for the logs of the routes that partners request', () => {
    const about = ['what a partner pulled', 'what the queries of a partner scanned and cost'];
    const names = [...about, 'who was refused and why'];
    expect(saved.map(({ Name }) => Name)).toEqual(names.map((name) => `performance-reports-test/${name}`));
    for (const { LogGroupNames, QueryString } of saved) {
      const functions = [...reports.map(({ name }) => name), 'downloads'];
      expect(LogGroupNames).toEqual(functions.map((name) => `/aws/lambda/performance-reports-test-${name}`));
      expect(QueryString).toContain('filter partner = "first-partner"');
    }
  });
});

describe('the runbook', () => {
  it('names only graphs that the dashboard has', () => {
    const body = JSON.stringify(resolved(ofType(resources, 'AWS::CloudWatch::Dashboard')[0]?.Properties));
    const graphs = [...runbook.matchAll(/\*([^*]+)\* on the dashboard/g)].map(([, title]) => title);
    expect(graphs).not.toEqual([]);
    for (const title of graphs) expect(body).toContain(`"title\\":\\"${title}\\"`);
  });

  const names = [...problems.matchAll(/^## ([a-z-]+)$/gm)].map(([, name]) => name);

  it('names every problem that a caller can get', () => {
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(runbook).toMatch(new RegExp(`^### ${name}$`, 'm'));
  });
});
