import { describe, expect, it } from 'vitest';
import { prod } from '../../infra/stages.ts';
import { idleCosts, idleCostTable } from '../../tools/docs/idle-cost.ts';
import { stageResources } from '../../tools/docs/stage-resources.ts';

const costOf = (resources: Parameters<typeof idleCosts>[0], start: string) =>
  idleCosts(resources).find(({ what }) => what.startsWith(start));

describe('the cost of a stage without requests', () => {
  it('includes each metric of an alarm, and each rule of a web ACL', () => {
    const resources = [
      { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'one' } },
      {
        Type: 'AWS::CloudWatch::Alarm',
        Properties: { Metrics: [{ Expression: 'a + b' }, { MetricStat: {} }, { MetricStat: {} }] },
      },
      { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
    ];
    expect(costOf(resources, 'CloudWatch, metrics of alarms')).toMatchObject({ number: 3 });
    expect(costOf(resources, 'AWS WAF, rules')).toMatchObject({ number: 2, dollars: 2 });
  });

  it('includes the pulls of the probe, by its schedule', () => {
    const rule = (ScheduleExpression: string) => [
      { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression } },
    ];
    expect(costOf(rule('rate(15 minutes)'), 'the probe')).toMatchObject({ number: 2_920 });
    expect(costOf(rule('rate(1 hour)'), 'the probe')).toMatchObject({ number: 730 });
    expect(() => costOf(rule('cron(0 3 * * ? *)'), 'the probe')).toThrow(
      'how many times is that in a month?',
    );
  });

  it('can’t be computed if a type of resource has no price yet', () => {
    expect(() => idleCosts([{ Type: 'AWS::EC2::NatGateway' }])).toThrow(
      'does not know what AWS::EC2::NatGateway costs',
    );
  });

  it('includes the backup of the register if the stage keeps its data', () => {
    const own = {
      ...prod,
      alarms: { ...prod.alarms, email: 'operator@example.com' },
      runbookUrl: 'https://git.example/runbook.md',
    };
    expect(costOf(stageResources('own', own), 'AWS Backup')).toMatchObject({ number: 0.01 });
    expect(costOf(stageResources('own', { ...own, keepData: false }), 'AWS Backup')).toMatchObject({
      number: 0,
    });
  });

  it('is the sum of its items', () => {
    const rows = idleCostTable()
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.replaceAll('*', '').trim()));
    const [total = [], ...items] = rows.toReversed();
    for (const column of [4, 6]) {
      const sum = items.reduce((all, row) => all + Number(row[column]), 0);
      expect(Math.abs(Number(total[column]) - sum)).toBeLessThan(0.05);
      expect(sum).toBeGreaterThan(10);
    }
  });
});
