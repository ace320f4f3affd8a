import { Duration } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Publisher } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { RESULTS_PREFIX } from '../../lib/names.ts';

/** Starts the publishing function for every order that arrives in the results bucket. */
export function startOnOrder(scope: Construct, publish: Publisher, resultsBucket: IBucket): void {
  // Whoever waits for a publication notices when it dies, and orders another: a retry would only compete with it.
  publish.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  new Rule(scope, 'PublicationOrdered', {
    description: 'Publishes the large result that an order asks for',
    eventPattern: {
      source: ['aws.s3'],
      detailType: ['Object Created'],
      detail: {
        bucket: { name: [resultsBucket.bucketName] },
        object: { key: [{ prefix: RESULTS_PREFIX.orders }] },
      },
    },
    targets: [new LambdaFunction(publish, { retryAttempts: 2, maxEventAge: Duration.minutes(1) })],
  });
}
