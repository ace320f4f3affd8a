import { Duration, Validations } from 'aws-cdk-lib';
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { ResourceNames } from '../resource-names.ts';

/**
 * The longest time that SQS allows. In this time, the operator can find the cause, remove it, and send the events
 * again.
 */
const KEPT = Duration.days(14);

/**
 * Makes the dead-letter queue, for events that no function handled. An alarm fires for them, and the runbook says how
 * to send them again.
 */
export function makeLostEventsQueue(scope: Construct, names: ResourceNames): IQueue {
  const queue = new Queue(scope, 'LostEvents', {
    queueName: names.lostEvents,
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: KEPT,
  });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of a rule and of a function. Nothing but an operator reads it.',
  });
  return queue;
}
