import { ArnFormat, Aws, Stack, type StackProps } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { METRIC_NAMESPACE } from '../../lib/names.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import {
  type AlarmDefinition,
  alarmList,
  type BurnRate,
  burnRates,
  probeAlarms,
  type Severity,
} from './alarm-list.ts';
import { makeDashboard } from './dashboard.ts';
import { ANSWER_KINDS, type AnswerKind, type StageMetrics, stageMetrics } from './metrics.ts';
import { savePartnerQueries } from './partner-queries.ts';

export interface OperationsStackProps extends StackProps {
  readonly stage: Pick<Stage, 'name' | 'alarms' | 'probe' | 'reports' | 'runbookUrl'>;
  readonly names: ResourceNames;
}

/**
 * The stack that watches the API: alarms, the topics that get them, and a dashboard. It refers to the API only by
 * names.
 */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { stage, names, ...props }: OperationsStackProps) {
    super(scope, id, props);
    const { gigabytesScannedPerHour } = stage.alarms;
    const metrics = stageMetrics(names, stage.name);
    const logGroup = LogGroup.fromLogGroupName(this, 'AccessLog', names.accessLog);
    for (const [kind, filterPattern] of Object.entries(ANSWER_KINDS))
      new MetricFilter(this, `${kind}-requests`, {
        logGroup,
        filterPattern,
        metricNamespace: METRIC_NAMESPACE,
        metricName: metrics.answersName(kind as AnswerKind),
      });

    const topics = alarmTopics(this, `${names.service}-alarms`, stage.alarms);
    const naming = ({
      name,
      severity = 'ticket',
      impact,
      anchor = name,
    }: Omit<AlarmDefinition, 'metric' | 'threshold'>) => ({
      alarmName: `${names.service}-${name}`,
      // The description is the only text in the alarm's message that we write.
      alarmDescription: `[${severity}] ${impact} What to do: ${stage.runbookUrl}#${anchor}`,
    });
    const entries = [
      ...alarmList(metrics, gigabytesScannedPerHour),
      ...(stage.probe ? probeAlarms(metrics, stage.probe.everyMinutes, stage.reports.finalAfterHours) : []),
    ];
    const tellOf = (alarm: AlarmBase, severity: Severity = 'ticket') => {
      const tell = new SnsAction(topics[severity]);
      alarm.addAlarmAction(tell);
      alarm.addOkAction(tell);
      return alarm;
    };
    const alarms = [
      ...burnRates.map((rate) =>
        tellOf(this.#burnAlarm(rate, metrics, naming({ ...rate, anchor: 'reports-fail' })), rate.severity),
      ),
      ...entries.map((entry) =>
        tellOf(new Alarm(this, entry.name, { ...naming(entry), ...conditionOf(entry) }), entry.severity),
      ),
    ];
    savePartnerQueries(this, names);
    makeDashboard(this, { names, metrics, alarms, runbookUrl: stage.runbookUrl });
  }

  /**
   * Only the composite alarm of both windows notifies the topic, because a single window may be over its share for a
   * moment.
   */
  #burnAlarm(
    { name, share, windows }: BurnRate,
    metrics: StageMetrics,
    naming: { alarmName: string; alarmDescription: string },
  ): CompositeAlarm {
    const parts = windows.map(({ period, leastReports }) => {
      const id = `${name}-in-${period.toMinutes()}-minutes`;
      return new Alarm(this, id, {
        alarmName: `${naming.alarmName}-in-${period.toMinutes()}-minutes`,
        alarmDescription: `One window of ${naming.alarmName}.`,
        metric: metrics.failedShare(period, leastReports),
        threshold: share,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    });
    return new CompositeAlarm(this, name, {
      compositeAlarmName: naming.alarmName,
      alarmDescription: naming.alarmDescription,
      alarmRule: AlarmRule.allOf(...parts.map((part) => AlarmRule.fromAlarm(part, AlarmState.ALARM))),
    });
  }
}

const conditionOf = ({ metric, fires, threshold, periods: [breached, last] = [1, 1] }: AlarmDefinition) => ({
  metric,
  threshold,
  comparisonOperator:
    fires === 'below'
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  evaluationPeriods: last,
  datapointsToAlarm: breached,
  // Without requests there are no data, and nothing is wrong. An alarm that fires `below` watches data that must always
  // come, so missing data are the fault.
  treatMissingData: fires === 'below' ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
});

/** The topics that alarms are sent to: the operator's topics, if the stage names them, otherwise a new one. */
function alarmTopics(
  stack: Stack,
  topicName: string,
  { email, topicArn, ticketTopicArn }: Pick<Stage['alarms'], 'email' | 'topicArn' | 'ticketTopicArn'>,
): Readonly<Record<Severity, ITopic>> {
  const page =
    topicArn === undefined
      ? makeAlarmTopic(stack, topicName, email)
      : Topic.fromTopicArn(stack, 'AlarmsOfOperator', topicArn);
  const ticket =
    ticketTopicArn === undefined ? page : Topic.fromTopicArn(stack, 'TicketsOfOperator', ticketTopicArn);
  return { page, ticket };
}

/** Makes a topic that sends alarms to the e-mail address, if the stage names one. */
function makeAlarmTopic(stack: Stack, topicName: string, email: string | undefined): Topic {
  const topic = new Topic(stack, 'Alarms', { topicName, displayName: topicName, enforceSSL: true });
  // This policy replaces the topic's default policy, which lets the whole account publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsPublish',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: {
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
        ArnLike: {
          'aws:SourceArn': stack.formatArn({
            service: 'cloudwatch',
            resource: 'alarm',
            resourceName: '*',
            arnFormat: ArnFormat.COLON_RESOURCE_NAME,
          }),
        },
      },
    }),
  );
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
}
