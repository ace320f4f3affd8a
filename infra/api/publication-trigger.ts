import { Duration } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LambdaDestination, SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { RESULTS_PREFIX } from '../../lib/names.ts';

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
  readonly ruleName: string;
  /** The queue for events that EventBridge can't deliver, and for events on which `abandon` fails. */
  readonly lostEvents: IQueue;
}

/**
 * Starts the publishing function for every request to publish that arrives in the results bucket. If this function
 * fails, Lambda tries twice more, after one minute and after two. Then the request is abandoned, and the waiting
 * callers are told. Events that no function handles go to a queue.
 */
export function publishOnRequest(
  scope: Construct,
  { publish, abandon, resultsBucket, ruleName, lostEvents }: PublicationTriggerProps,
): void {
  publish.configureAsyncInvoke({
    retryAttempts: 2,
    maxEventAge: LONGEST_TRY,
    onFailure: new LambdaDestination(abandon),
  });
  abandon.configureAsyncInvoke({
    retryAttempts: 2,
    maxEventAge: LONGEST_TRY,
    onFailure: new SqsDestination(lostEvents),
  });
  new Rule(scope, 'PublicationRequested', {
    ruleName,
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
    targets: [
      new LambdaFunction(publish, {
        retryAttempts: 20,
        maxEventAge: LONGEST_TRY,
        deadLetterQueue: lostEvents,
      }),
    ],
  });
}
