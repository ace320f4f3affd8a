import { describe, expect, it } from 'vitest';
import { DOWNLOAD_CORS } from '../../lib/names.ts';
import { tables } from '../../lib/report/tables.ts';
import { grownAccount, newAccount } from './accounts.ts';
import { buildStacks, named, ofType, propertiesOf, resolved, resourcesOf } from './synthesize.ts';

const made = resourcesOf(buildStacks(newAccount).data);
const kept = resourcesOf(buildStacks(grownAccount).data);

const HIVE = 'org.apache.hadoop.hive.ql.io.parquet';
const HIVE_TYPE: Record<string, string> = { varchar: 'string' };

/** The Glue table with this name, with its references resolved. */
const tableInput = (resources: typeof made, name: string) =>
  ofType(resources, 'AWS::Glue::Table')
    .map(({ Properties }) => resolved(Properties['TableInput']) as Record<string, unknown>)
    .find(({ Name }) => Name === name);

describe('the tables', () => {
  it.each(tables)(
    'include $name with the columns of the data contract, in the order of the contract',
    ({ name, columns }) => {
      expect(tableInput(made, name)).toMatchObject({
        TableType: 'EXTERNAL_TABLE',
        PartitionKeys: [{ Name: 'day', Type: 'string' }],
        StorageDescriptor: {
          Columns: columns.map(({ name: Name, type, meaning: Comment }) => {
            return { Name, Type: HIVE_TYPE[type] ?? type, Comment };
          }),
          InputFormat: `${HIVE}.MapredParquetInputFormat`,
          OutputFormat: `${HIVE}.MapredParquetOutputFormat`,
          SerdeInfo: { SerializationLibrary: `${HIVE}.serde.ParquetHiveSerDe` },
        },
      });
    },
  );

  it('find their days by partition projection, from the first day up to today', () => {
    const [bucket] = named(made, 'EventsD');
    expect(tableInput(made, 'publisher_events')).toMatchObject({
      Parameters: {
        classification: 'parquet',
        'projection.enabled': 'true',
        'projection.day.type': 'date',
        'projection.day.format': 'yyyy-MM-dd',
        'projection.day.range': '2025-01-01,NOW',
        'projection.day.interval': '1',
        'projection.day.interval.unit': 'DAYS',
        'storage.location.template': `s3://<${bucket}>/publisher_events/day=\${day}/`,
      },
      StorageDescriptor: { Location: `s3://<${bucket}>/publisher_events/` },
    });
  });

  it('can be in an existing bucket, below a prefix', () => {
    expect(Object.keys(kept).filter((id) => id.startsWith('Events'))).toEqual([]);
    expect(tableInput(kept, 'advertiser_events')).toMatchObject({
      Parameters: {
        'projection.day.range': '2020-02-29,NOW',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: Athena's own placeholder
        'storage.location.template': 's3://example-events/warehouse/advertiser_events/day=${day}/',
      },
      StorageDescriptor: { Location: 's3://example-events/warehouse/advertiser_events/' },
    });
  });
});

describe('the buckets', () => {
  const buckets = [...ofType(made, 'AWS::S3::Bucket'), ...ofType(kept, 'AWS::S3::Bucket')];

  it('are encrypted, and delete unfinished uploads after a day', () => {
    expect(buckets).toHaveLength(5);
    const encryption = { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } };
    const AbortIncompleteMultipartUpload = { DaysAfterInitiation: 1 };
    const rule = { Id: 'unfinished-uploads', Status: 'Enabled', AbortIncompleteMultipartUpload };
    const BucketEncryption = { ServerSideEncryptionConfiguration: [encryption] };
    const LifecycleConfiguration = { Rules: expect.arrayContaining([rule]) };
    for (const { Properties } of buckets)
      expect(Properties).toMatchObject({ BucketEncryption, LifecycleConfiguration });
  });

  it('keep results for seven days, and the objects of waiting requests for two days', () => {
    const [, { Properties }] = named(made, 'Results2');
    const { Rules } = Properties['LifecycleConfiguration'] as { Rules: Record<string, unknown>[] };
    expect(
      Rules.filter(({ Prefix }) => Prefix).map(({ Prefix, ExpirationInDays }) => [Prefix, ExpirationInDays]),
    ).toEqual([
      ['athena/', 7],
      ['reports/', 7],
      ['cached/', 7],
      ['jobs/', 7],
      ['waiting/', 2],
      ['publications/', 2],
      ['abandoned/', 2],
      ['slots/', 2],
      // Versions before 1.0.0 wrote these folders.
      ['orders/', 7],
      ['tickets/', 2],
    ]);
  });

  it('notify EventBridge of new objects in the results bucket, and of no others', () => {
    const telling = buckets.filter(({ Properties }) => Properties['NotificationConfiguration']);
    expect(telling).toEqual([named(made, 'Results2')[1], named(kept, 'Results2')[1]]);
    const EventBridgeConfiguration = { EventBridgeEnabled: true };
    for (const { Properties } of telling)
      expect(Properties['NotificationConfiguration']).toEqual({ EventBridgeConfiguration });
  });

  it('let nobody overwrite a report’s file', () => {
    const [, policy] = named(made, 'ResultsPolicy');
    const { Statement } = policy.Properties['PolicyDocument'] as { Statement: { Sid?: string }[] };
    const Condition = {
      ...{ Null: { 's3:if-none-match': 'true' }, Bool: { 's3:ObjectCreationOperation': 'true' } },
    };
    const denied = { Sid: 'ReportsAreWrittenOnce', Effect: 'Deny', Principal: { AWS: '*' }, Condition };
    const Resource = expect.stringMatching(/^<Results\w+\.Arn>\/reports\/\*$/);
    const found = resolved(Statement.find(({ Sid }) => Sid === 'ReportsAreWrittenOnce'));
    expect(found).toEqual({ ...denied, Action: 's3:PutObject', Resource });
  });

  it('keep earlier versions of the register of partners', () => {
    const undo = { Id: 'undo', Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: 90 } };
    const LifecycleConfiguration = { Rules: expect.arrayContaining([undo]) };
    const register = { VersioningConfiguration: { Status: 'Enabled' }, LifecycleConfiguration };
    expect(named(made, 'PartnersD')[1].Properties).toMatchObject(register);
  });

  it('let web pages of any origin read a download, and no web page read the events', () => {
    const [, { Properties }] = named(made, 'Results2');
    const { methods, allowedHeaders, exposedHeaders, maxAgeSeconds } = DOWNLOAD_CORS;
    const allowed = { AllowedOrigins: ['*'], AllowedMethods: methods, AllowedHeaders: allowedHeaders };
    const rule = { ...allowed, ExposedHeaders: exposedHeaders, MaxAge: maxAgeSeconds };
    expect(Properties['CorsConfiguration']).toEqual({ CorsRules: [rule] });
    expect(named(made, 'EventsD')[1].Properties['CorsConfiguration']).toBeUndefined();
  });

  it('are deleted with their stack; if the stage keeps its data, only after a failed creation', () => {
    expect(ofType(made, 'AWS::S3::Bucket')).toMatchObject(Array(3).fill({ DeletionPolicy: 'Delete' }));
    expect(ofType(kept, 'AWS::S3::Bucket')).toMatchObject(
      Array(2).fill({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' }),
    );
  });
});

describe('the register of partners', () => {
  it('is backed up every day, and each backup is kept for 35 days, if the stage keeps its data', () => {
    const [bucket] = named(kept, 'PartnersD');
    const TargetBackupVault = expect.stringMatching(/^<PartnersBackupVault\w+\.BackupVaultName>$/);
    expect(resolved(ofType(kept, 'AWS::Backup::BackupPlan')[0]?.Properties)).toMatchObject({
      BackupPlan: {
        BackupPlanRule: [
          { ScheduleExpression: 'cron(0 3 * * ? *)', Lifecycle: { DeleteAfterDays: 35 }, TargetBackupVault },
        ],
        // With ACLs, a copy could not be restored into the bucket, which has none.
        AdvancedBackupSettings: [{ ResourceType: 'S3', BackupOptions: { BackupACLs: 'disabled' } }],
      },
    });
    const IamRoleArn = expect.stringMatching(/^<PartnersBackupRole\w+\.Arn>$/);
    const BackupSelection = { Resources: [`<${bucket}.Arn>`], IamRoleArn };
    const selection = resolved(ofType(kept, 'AWS::Backup::BackupSelection')[0]?.Properties);
    expect(selection).toMatchObject({ BackupSelection });
    expect(ofType(made, 'AWS::Backup::BackupPlan')).toEqual([]);
  });

  it('is backed up to a vault that remains after its stack, under a name that no later stack uses', () => {
    const [vault, ...others] = ofType(kept, 'AWS::Backup::BackupVault');
    const policies = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
    expect([vault, others]).toMatchObject([policies, []]);
    expect(JSON.stringify(vault?.Properties['BackupVaultName'])).toContain('AWS::StackId');
  });
});

describe('the workgroup', () => {
  const workgroup = (resources: typeof made) =>
    resolved(propertiesOf(resources, 'AWS::Athena::WorkGroup')[0]);

  it('has a scan limit in whole bytes, even for a fraction of a gigabyte', () => {
    const { data } = buildStacks({ ...newAccount, queries: { maxGigabytesScanned: 8.2 } });
    const limit = { BytesScannedCutoffPerQuery: 8_200_000_000 };
    expect(workgroup(resourcesOf(data))).toMatchObject({ WorkGroupConfiguration: limit });
  });

  it('makes every query use engine 3, and the workgroup’s result location, encryption, metrics and scan limit', () => {
    const [bucket] = named(made, 'Results2');
    expect(workgroup(made)).toMatchObject({
      Name: 'performance-reports-test',
      WorkGroupConfiguration: {
        EnforceWorkGroupConfiguration: true,
        EngineVersion: { SelectedEngineVersion: 'Athena engine version 3' },
        PublishCloudWatchMetricsEnabled: true,
        BytesScannedCutoffPerQuery: 10_000_000_000,
        ResultConfiguration: {
          OutputLocation: `s3://<${bucket}>/athena/`,
          EncryptionConfiguration: { EncryptionOption: 'SSE_S3' },
        },
      },
    });
  });
});
