import { Stack, type StackProps } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { METRIC_NAMESPACE } from '../../lib/metric-names.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import { alarmList } from './alarm-list.ts';
import { makeAlarmTopic } from './alarm-topic.ts';
import { makeDashboard } from './dashboard.ts';
import { stageMetrics } from './metrics.ts';
import { savePartnerQueries } from './save-partner-queries.ts';

export interface OperationsStackProps extends StackProps {
  readonly stage: Pick<Stage, 'name' | 'alarms' | 'runbookUrl'>;
  readonly names: ResourceNames;
}

/** What watches over the API: alarms, a topic to tell them to, and a dashboard. It knows the API by names alone. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { stage, names, ...props }: OperationsStackProps) {
    super(scope, id, props);
    const { email, gigabytesScannedPerHour } = stage.alarms;
    const metrics = stageMetrics(names, stage.name);
    new MetricFilter(this, 'ThrottledRequests', {
      logGroup: LogGroup.fromLogGroupName(this, 'AccessLog', names.accessLog),
      filterPattern: FilterPattern.stringValue('$.status', '=', '429'),
      metricNamespace: METRIC_NAMESPACE,
      metricName: metrics.throttledRequestsName,
    });

    const topic = makeAlarmTopic(this, `${names.service}-alarms`, email);
    const tell = new SnsAction(topic);
    const alarms = alarmList(metrics, gigabytesScannedPerHour).map((entry) => {
      const alarm = new Alarm(this, entry.name, {
        alarmName: `${names.service}-${entry.name}`,
        alarmDescription: `${entry.suffering} What to do: ${stage.runbookUrl}#${entry.anchor}`,
        metric: entry.metric,
        threshold: entry.threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: entry.periods,
        datapointsToAlarm: entry.periodsToAlarm,
        // Without requests there is no metric, and nobody suffers.
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(tell);
      alarm.addOkAction(tell);
      return alarm;
    });
    savePartnerQueries(this, names);
    makeDashboard(this, { names, metrics, alarms, runbookUrl: stage.runbookUrl });
  }
}
