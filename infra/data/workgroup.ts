import { CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { bytesOf } from '../stage.ts';

export interface WorkgroupProps {
  readonly name: string;
  readonly resultsBucket: IBucket;
  readonly maxGigabytesScanned: number;
}

/** The workgroup in which the reports' queries run. Its settings override the settings of a query. */
export class Workgroup extends Construct {
  constructor(scope: Construct, id: string, { name, resultsBucket, maxGigabytesScanned }: WorkgroupProps) {
    super(scope, id);
    new CfnWorkGroup(this, 'Resource', {
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
