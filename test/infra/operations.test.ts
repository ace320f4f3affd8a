import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { grownAccount, newAccount } from './accounts.ts';
import { buildStacks, ofType, resolved, resourcesOf } from './synthesize.ts';

const { operations, api } = buildStacks(newAccount);
const resources = resourcesOf(operations);
const alarms = ofType(resources, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const problems = readFileSync(new URL('../../docs/problems.md', import.meta.url), 'utf8');

describe('the alarms', () => {
  it('watch faults, latency, queries, throttles, large reports and cost', () => {
    expect(alarms.map(({ AlarmName }) => String(AlarmName).replace('performance-reports-test-', ''))).toEqual(
      [
        'reports-fail',
        'reports-are-slow',
        'queries-fail',
        'engine-is-saturated',
        'functions-are-throttled',
        'requests-are-throttled',
        'large-reports-fail',
        'much-is-scanned',
      ],
    );
  });

  it('say what the partner suffers and link an entry of the runbook', () => {
    const anchors = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const { AlarmDescription } of alarms) {
      const link =
        /^.{40,} What to do: https:\/\/git\.example\/reports\/docs\/runbook\.md#(?<anchor>[a-z-]+)$/;
      expect(AlarmDescription).toMatch(link);
      expect(anchors).toContain(link.exec(String(AlarmDescription))?.groups?.['anchor']);
    }
  });

  it('ring for the bytes of the stage, and are quiet where nobody asks', () => {
    expect(alarms.at(-1)).toMatchObject({
      Namespace: 'PerformanceReports',
      MetricName: 'BytesScanned',
      Dimensions: [{ Name: 'service', Value: 'performance-reports-test' }],
      Period: 3_600,
      Statistic: 'Sum',
      Threshold: 20_000_000_000,
    });
    for (const alarm of alarms) expect(alarm).toMatchObject({ TreatMissingData: 'notBreaching' });
  });

  it('are told to a topic, and to an address where the stage has one', () => {
    const [topic] = Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::SNS::Topic');
    for (const alarm of alarms)
      expect(alarm).toMatchObject({ AlarmActions: [{ Ref: topic?.[0] }], OKActions: [{ Ref: topic?.[0] }] });
    expect(ofType(resources, 'AWS::SNS::Subscription')).toEqual([]);
    const grown = resourcesOf(buildStacks(grownAccount).operations);
    expect(ofType(grown, 'AWS::SNS::Subscription')[0]?.Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
  });

  it('watch what there is: every name of the API stack that they know', () => {
    const known = JSON.stringify(resolved(resources));
    const made = resourcesOf(api);
    for (const { Properties } of ofType(made, 'AWS::Lambda::Function'))
      expect(known).toContain(`"Value":"${Properties['FunctionName']}"`);
    expect(alarms[0]).toMatchObject({
      Dimensions: [
        { Name: 'ApiName', Value: ofType(made, 'AWS::ApiGateway::RestApi')[0]?.Properties['Name'] },
        { Name: 'Stage', Value: ofType(made, 'AWS::ApiGateway::Stage')[0]?.Properties['StageName'] },
      ],
    });
    const logs = ofType(made, 'AWS::Logs::LogGroup').map(({ Properties }) => Properties['LogGroupName']);
    expect(logs).toContain(ofType(resources, 'AWS::Logs::MetricFilter')[0]?.Properties['LogGroupName']);
  });
});

describe('the questions about partners', () => {
  const saved = ofType(resources, 'AWS::Logs::QueryDefinition').map(({ Properties }) => Properties);

  it('are saved under the name of the service, over the logs of the routes that partners ask', () => {
    expect(saved.map(({ Name }) => Name)).toEqual([
      'performance-reports-test/what a partner pulled',
      'performance-reports-test/what the queries of a partner scanned and cost',
      'performance-reports-test/who was refused and why',
    ]);
    for (const { LogGroupNames, QueryString } of saved) {
      expect(LogGroupNames).toEqual([
        '/aws/lambda/performance-reports-test-publisherperformance',
        '/aws/lambda/performance-reports-test-advertiserperformance',
        '/aws/lambda/performance-reports-test-downloads',
      ]);
      expect(QueryString).toContain('filter partner = "first-partner"');
    }
  });

  it('ask for nothing that the log does not say', () => {
    const inLog = [
      ...[
        '@timestamp',
        'message',
        'requestId',
        'status',
        'problem',
        'refusal',
        'report',
        'client',
        'partner',
        'hop',
      ],
      ...['startInclusive', 'endExclusive', 'requestedFields', 'companies', 'bytes', 'dataVersion'],
      ...['recordedEnd', 'bytesScanned'],
    ];
    const words = ['filter', 'fields', 'sort', 'limit', 'stats', 'by', 'as', 'desc', 'or', 'in', 'and'];
    const functions = ['ispresent', 'greatest', 'count', 'sum', 'bin', 'max', 'count_distinct'];
    for (const { QueryString } of saved) {
      const text = String(QueryString).replaceAll(/^#.*$|"[^"]*"/gm, '');
      const named = [...text.matchAll(/\bas (\w+)/g)].map(([, name]) => name);
      const unknown = (text.match(/@?[a-z_]\w*/gi) ?? []).filter(
        (word) => ![...inLog, ...words, ...functions, ...named, 'd'].includes(word),
      );
      expect(unknown).toEqual([]);
    }
  });

  it('are answered for all partners on the dashboard', () => {
    const body = JSON.stringify(resolved(ofType(resources, 'AWS::CloudWatch::Dashboard')[0]?.Properties));
    for (const title of ['Reports that partners pulled', 'Who was refused, and why', 'cost at $5 a terabyte'])
      expect(body).toContain(title);
  });
});

describe('the runbook', () => {
  const names = [...problems.matchAll(/^## ([a-z-]+)$/gm)].map(([, name]) => name);

  it('answers every problem that a caller can be told', () => {
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(runbook).toMatch(new RegExp(`^### ${name}$`, 'm'));
  });
});
