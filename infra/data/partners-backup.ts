import { CfnOutput, Duration, Validations } from 'aws-cdk-lib';
import {
  BackupPlan,
  BackupPlanRule,
  BackupResource,
  BackupVault,
  type CfnBackupPlan,
} from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { RETAIN_EXCEPT_ON_CREATE, uniquePart } from '../kept-resources.ts';

const KEPT = Duration.days(35);

/** AWS's managed policies for backups of S3 ("Managed policies for AWS Backup"). */
const POLICIES = ['AWSBackupServiceRolePolicyForS3Backup', 'AWSBackupServiceRolePolicyForS3Restore'];

/** AWS Backup allows names of 50 characters. The unique part has nine of them, with its hyphen. */
function vaultPrefix(service: string): string {
  const prefix = `${service}-partners`;
  // A shorter name for all stages would replace the vaults that are deployed.
  return prefix.length + 9 <= 50 ? prefix : service;
}

/**
 * Copies the register of partners to a vault every day. The copies remain even if somebody empties the bucket with all
 * its versions. Without the register, nobody gets reports. The runbook says how to restore it.
 */
export function backUpPartners(scope: Construct, service: string, partnersBucket: IBucket): void {
  const backup = new Construct(scope, 'PartnersBackup');
  // The vault outlives its stack. Its name has a unique part, so that the stack can be made again with a new vault.
  const vault = new BackupVault(backup, 'Vault', {
    backupVaultName: `${vaultPrefix(service)}-${uniquePart()}`,
    removalPolicy: RETAIN_EXCEPT_ON_CREATE,
  });
  const role = new Role(backup, 'Role', {
    description: 'Backs the register of partners up, and restores it',
    assumedBy: new ServicePrincipal('backup.amazonaws.com'),
    managedPolicies: POLICIES.map((name) => ManagedPolicy.fromAwsManagedPolicyName(name)),
  });
  Validations.of(role).acknowledge(
    ...POLICIES.map((name) => ({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${name}]`,
      reason:
        'AWS Backup says what it needs of S3 in these policies, and adds to them. Nobody else may take the role.',
    })),
  );
  const plan = new BackupPlan(backup, 'Plan', {
    backupPlanName: `${service}-partners`,
    backupVault: vault,
    backupPlanRules: [
      new BackupPlanRule({
        ruleName: 'daily',
        scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
        deleteAfter: KEPT,
      }),
    ],
  });
  // The bucket has no ACLs. A copy with ACLs could be restored only into a bucket that has them ("Restore S3 data using
  // AWS Backup"). The class `BackupPlan` does not have this setting.
  (plan.node.defaultChild as CfnBackupPlan).addPropertyOverride('BackupPlan.AdvancedBackupSettings', [
    { ResourceType: 'S3', BackupOptions: { BackupACLs: 'disabled' } },
  ]);
  plan.addSelection('Bucket', {
    backupSelectionName: 'partners',
    resources: [BackupResource.fromArn(partnersBucket.bucketArn)],
    role,
    disableDefaultBackupPolicy: true,
  });
  new CfnOutput(scope, 'PartnersVault', { value: vault.backupVaultName });
  new CfnOutput(scope, 'PartnersBackupRole', { value: role.roleArn });
}
