import { CfnOutput, Duration, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { makePrivateBucket } from '../kept-resources.ts';
import type { ResourceNames } from '../resource-names.ts';
import { bytesOf, type Stage } from '../stage.ts';
import { makeEventsTables } from './events-tables.ts';
import { backUpPartners } from './partners-backup.ts';
import { makeResultsBucket } from './results-bucket.ts';

export interface DataStackProps extends StackProps {
  readonly stage: Pick<Stage, 'keepData' | 'events' | 'queries'>;
  readonly names: ResourceNames;
}

/** Names of the buckets that other stacks use. */
export interface BucketNames {
  readonly events: string;
  readonly results: string;
  readonly partners: string;
}

/** How long an overwritten or deleted events file can be brought back. */
const UNDO_DAYS = 30;
/** How long a record of the register that was changed can be brought back. */
const UNDO_RECORD_DAYS = 90;

/**
 * The stack that holds data: the events, their tables, the results and the register of partners. It also has the
 * workgroup, in which queries run.
 */
export class DataStack extends Stack {
  /** Other stacks read these names. While they do, CloudFormation refuses to replace the buckets. */
  readonly bucketNames: BucketNames;

  constructor(scope: Construct, id: string, { stage, names, ...props }: DataStackProps) {
    super(scope, id, props);
    const { keepData, events, queries } = stage;
    const eventsBucket: IBucket = events.bucket
      ? Bucket.fromBucketName(this, 'Events', events.bucket)
      : makePrivateBucket(this, 'Events', {
          keepData,
          versioned: true,
          lifecycleRules: [{ id: 'undo', noncurrentVersionExpiration: Duration.days(UNDO_DAYS) }],
        });
    const resultsBucket = makeResultsBucket(this, 'Results', keepData);
    const partnersBucket = makePrivateBucket(this, 'Partners', {
      keepData,
      versioned: true,
      lifecycleRules: [{ id: 'undo', noncurrentVersionExpiration: Duration.days(UNDO_RECORD_DAYS) }],
    });
    if (keepData) backUpPartners(this, names.service, partnersBucket);
    makeEventsTables(this, names.database, eventsBucket, events);
    this.#makeWorkgroup(names.service, resultsBucket, queries.maxGigabytesScanned);

    const exported = (id: string, exportName: string, { bucketName }: IBucket) => {
      new CfnOutput(this, id, { value: bucketName, exportName });
      return Fn.importValue(exportName);
    };
    const madeOrGiven = exported('EventsBucket', names.exported('events-bucket'), eventsBucket);
    this.bucketNames = {
      events: events.bucket ?? madeOrGiven,
      results: exported('ResultsBucket', names.exported('results-bucket'), resultsBucket),
      partners: exported('PartnersBucket', names.exported('partners-bucket'), partnersBucket),
    };
  }

  /** Makes the workgroup in which the reports' queries run. Its settings override the settings of a query. */
  #makeWorkgroup(name: string, resultsBucket: IBucket, maxGigabytesScanned: number): void {
    new CfnWorkGroup(new Construct(this, 'Workgroup'), 'Resource', {
      name,
      description: 'Queries of the performance reports',
      state: 'ENABLED',
      // The named queries and the history are deleted with the workgroup. They are not needed: the results are in the
      // bucket, and the cost is on the bill.
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        enforceWorkGroupConfiguration: true,
        engineVersion: { selectedEngineVersion: 'Athena engine version 3' },
        publishCloudWatchMetricsEnabled: true,
        bytesScannedCutoffPerQuery: bytesOf(maxGigabytesScanned),
        requesterPaysEnabled: false,
        resultConfiguration: {
          outputLocation: resultsBucket.s3UrlForObject(RESULTS_PREFIX.athena),
          encryptionConfiguration: { encryptionOption: 'SSE_S3' },
        },
      },
    });
  }
}
