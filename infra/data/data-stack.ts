import { CfnOutput, Duration, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import { EventsTables } from './events-tables.ts';
import { PartnersBackup } from './partners-backup.ts';
import { makePrivateBucket } from './private-bucket.ts';
import { makeResultsBucket } from './results-bucket.ts';
import { Workgroup } from './workgroup.ts';

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
    if (keepData) new PartnersBackup(this, 'PartnersBackup', { service: names.service, partnersBucket });
    new EventsTables(this, 'Tables', {
      databaseName: names.database,
      bucket: eventsBucket,
      prefix: events.prefix,
      firstDay: events.firstDay,
    });
    new Workgroup(this, 'Workgroup', {
      name: names.service,
      resultsBucket,
      maxGigabytesScanned: queries.maxGigabytesScanned,
    });

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
}
