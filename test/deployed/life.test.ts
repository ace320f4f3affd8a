/**
 * Tests what an operator does with a deployment after its first day. Each case starts from the state in which the case
 * before it leaves the deployment.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { knownEvents } from '../e2e/known-events.ts';
import { startService } from '../e2e/service.ts';
import { changedCopy } from './changed-copy.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const lane = currentLane() as Lane;
const { stage } = lane;
const { aws, cdk, json, outputs } = operator(lane);
const STACKS = ['data', 'identity', 'api', 'operations'].map((of) => `performance-reports-${stage}-${of}`);

const service = await startService(knownEvents(9, 300));
/** A copy of the project whose publisher report has one more field, as a later version may have. */
const upgrade = await changedCopy('lib/report/catalogue.ts', (source) =>
  source.replace(/( +)deviceOrProxy,/, "$1text('AppName', 'app_name', 'name of the app'),\n$&"),
);
afterAll(() => upgrade[Symbol.asyncDispose]());

const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const report = (fields: string) =>
  service.pull('publisherperformance', { fields: fields.split(','), ...january });

const LEFT = 'StackSummaries[?StackStatus != `DELETE_COMPLETE`].StackName';
const stackNames = (): Promise<string[]> => json('cloudformation list-stacks --query', LEFT);

describe('a deployment', () => {
  it('shows no difference while nothing has changed', async () => {
    expect(await cdk('diff', stage, '--fail')).toContain('There were no differences');
  });

  it('keeps its data in an upgrade that adds a field, and leaves the field empty for files without its column', async () => {
    const before = await report('Day,DeviceOrProxy,ServedAds,Revenue');
    await operator(lane, upgrade.directory).cdk('deploy', stage, '--all', '--require-approval', 'never');
    expect(await report('Day,DeviceOrProxy,ServedAds,Revenue')).toBe(before);
    const totals = (await report('ServedAds,Revenue')).split('\n')[1];
    expect(await report('AppName,ServedAds,Revenue')).toBe(`"AppName","ServedAds","Revenue"\n,${totals}\n`);
  });

  it('refuses to destroy the identity stack while the API uses it', async () => {
    const [, identity = ''] = STACKS;
    await expect(cdk('destroy', stage, '--force', '--exclusively', identity)).rejects.toThrow(/imported by/i);
    expect(await report('ServedAds')).toContain('"ServedAds"');
  });

  it('leaves nothing when it is destroyed as docs/deploy.md says', async () => {
    await service.close();
    const { EventsBucket = '', PartnersBucket = '', ResultsBucket = '' } = await outputs(stage, 'data');
    // The register of a stage in use is not empty.
    await aws('s3api', 'put-object', '--bucket', PartnersBucket, '--key', 'partners/some-client.json');
    for (const bucket of [EventsBucket, PartnersBucket, ResultsBucket]) await emptied(bucket);
    await cdk('destroy', stage, '--all', '--force');
    const left = await stackNames();
    expect(left.filter((name) => STACKS.includes(name))).toEqual([]);
    expect(left).toContain('CDKToolkit');
    expect(await remains()).toEqual([]);
  });
});

/** Removes every version and every delete marker from a bucket, as "Empty" in the S3 console does. */
async function emptied(bucket: string): Promise<void> {
  await aws('s3', 'rm', '--recursive', '--quiet', `s3://${bucket}/`);
  const { Versions = [], DeleteMarkers = [] } = await json('s3api list-object-versions --bucket', bucket);
  const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
  if (Objects.length === 0) return;
  const deleted = JSON.stringify({ Objects, Quiet: true });
  await aws('s3api', 'delete-objects', '--bucket', bucket, '--delete', deleted);
}

/** The names of the resources that are left of the stage, except API Gateway's role for writing logs. */
async function remains(): Promise<string[]> {
  const { Roles } = await json('iam list-roles');
  const roles = Roles.filter((role: object) => !JSON.stringify(role).includes('apigateway.amazonaws.com'));
  const lists = ['s3api list-buckets', 'lambda list-functions', 'logs describe-log-groups'];
  const others = [
    'athena list-work-groups',
    'glue get-databases',
    'secretsmanager list-secrets',
    'cloudwatch describe-alarms',
  ];
  const pools = 'cognito-idp list-user-pools --max-results 60';
  const listings = await Promise.all([...lists, ...others, pools].map((list) => json(list)));
  const ours = new RegExp(`"(?:[^"]*[/:])?(performance[-_]reports[-_]${stage}[^"]*)"`, 'g');
  const found = JSON.stringify([...listings, roles]).matchAll(ours);
  return [...new Set([...found].map(([, name = '']) => name))];
}
