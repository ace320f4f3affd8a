import { RemovalPolicy } from 'aws-cdk-lib';
import {
  Database,
  DataFormat,
  DateIntervalUnit,
  PartitionProjectionConfiguration,
  S3Table,
  S3TableStorage,
  Schema,
  type Type,
} from 'aws-cdk-lib/aws-glue';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { type ColumnType, PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import type { Stage } from '../stage.ts';

/** The catalog names types as Hive does. */
const GLUE_TYPE: Readonly<Record<ColumnType, Type>> = {
  timestamp: Schema.TIMESTAMP,
  bigint: Schema.BIG_INT,
  varchar: Schema.STRING,
  'decimal(18,6)': Schema.decimal(18, 6),
};

/** Makes the database and the tables of the data contract, as Athena reads them. */
export function makeEventsTables(
  scope: Construct,
  databaseName: string,
  bucket: IBucket,
  { prefix, firstDay }: Stage['events'],
): void {
  const group = new Construct(scope, 'Tables');
  // Nothing in the database needs to be kept, because the definitions come from the code.
  const database = new Database(group, 'Database', { databaseName, removalPolicy: RemovalPolicy.DESTROY });
  for (const { name, columns } of tables) {
    const folder = `${prefix}${name}/`;
    new S3Table(group, name, {
      database,
      tableName: name,
      description: 'Records of the performance reports, one row each',
      storage: S3TableStorage.fromBucket(bucket),
      s3Prefix: folder,
      dataFormat: DataFormat.PARQUET,
      // `true` would mean that clients encrypt the files. The bucket's own encryption does not count.
      hasEncryptedData: false,
      columns: columns.map(({ name, type, meaning }) => ({
        name,
        type: GLUE_TYPE[type],
        comment: meaning,
      })),
      partitionKeys: [{ name: PARTITION_COLUMN, type: Schema.STRING, comment: 'day of the record, UTC' }],
      // Athena computes the days that a query needs, without a crawler and without MSCK REPAIR. NOW is the present
      // time in UTC, like the partitions. So today's folder is read from its first second on.
      partitionProjection: {
        [PARTITION_COLUMN]: PartitionProjectionConfiguration.date({
          min: firstDay,
          max: 'NOW',
          format: 'yyyy-MM-dd',
          step: { interval: 1, intervalUnit: DateIntervalUnit.DAYS },
        }),
      },
      parameters: {
        'storage.location.template': `s3://${bucket.bucketName}/${folder}${PARTITION_COLUMN}=\${${PARTITION_COLUMN}}/`,
      },
    });
  }
}
