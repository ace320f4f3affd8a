import { Duration, Validations } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LambdaDestination, SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import type { ResourceNames } from '../resource-names.ts';

/**
 * After this time, EventBridge and Lambda give up an event that no function has handled. If queries take 20 minutes at
 * most, no caller waits longer than this.
 */
const LONGEST_TRY = Duration.hours(1);

export interface PublicationTriggerProps {
  readonly publish: IFunction;
  /** The function that Lambda invokes after the last try of a request to publish has failed. */
  readonly abandon: IFunction;
  readonly resultsBucket: IBucket;
  readonly names: ResourceNames;
}

/**
 * Starts the publishing function for every request to publish that arrives in the results bucket. If this function
 * fails, Lambda tries twice more, after one minute and after two. Then the request is abandoned, and the waiting
 * callers are told. Events that no function handles go to a queue.
 */
export function publishOnRequest(
  scope: Construct,
  { publish, abandon, resultsBucket, names }: PublicationTriggerProps,
): void {
  const lostEvents = makeLostEventsQueue(scope, names);
  const tries = { retryAttempts: 2, maxEventAge: LONGEST_TRY };
  publish.configureAsyncInvoke({ ...tries, onFailure: new LambdaDestination(abandon) });
  abandon.configureAsyncInvoke({ ...tries, onFailure: new SqsDestination(lostEvents) });
  new Rule(scope, 'PublicationRequested', {
    ruleName: names.publicationRule,
    description: 'Publishes a large result that a caller waits for',
    eventPattern: {
      source: ['aws.s3'],
      detailType: ['Object Created'],
      detail: {
        bucket: { name: [resultsBucket.bucketName] },
        object: { key: [{ prefix: RESULTS_PREFIX.publications }] },
      },
    },
    // These tries only deliver the event to Lambda, which accepts it within seconds unless it throttles.
    targets: [new LambdaFunction(publish, { ...tries, retryAttempts: 20, deadLetterQueue: lostEvents })],
  });
}

/** Makes the queue of events that no function handled. The runbook says how to send them again. */
function makeLostEventsQueue(scope: Construct, names: ResourceNames): IQueue {
  const queue = new Queue(scope, 'LostEvents', {
    queueName: names.lostEvents,
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    // The longest time that SQS allows: time to remove the cause, and to send the events again.
    retentionPeriod: Duration.days(14),
  });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of a rule and of a function. Nothing but an operator reads it.',
  });
  return queue;
}
