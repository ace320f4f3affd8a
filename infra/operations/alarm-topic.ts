import { ArnFormat, Aws, type Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Stage } from '../stage.ts';
import type { Severity } from './alarm-list.ts';

/** The topics that alarms are sent to: the operator's topics, if the stage names them, otherwise a new one. */
export function alarmTopics(
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
